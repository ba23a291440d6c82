// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/driver/starved.cc -- see starved.h.
#include "tests/e2e/driver/starved.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace livebtl::e2e {

// "time on a processor, time waiting for one, times it was given one"
std::optional<TimeNs> parse_run_delay(std::string_view schedstat) {
  const std::size_t space = schedstat.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const std::string_view rest = schedstat.substr(space + 1);
  TimeNs delay = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), delay);
  const bool whole = end == rest.data() + rest.size() || *end == ' ';
  return error == std::errc{} && whole ? std::optional(delay) : std::nullopt;
}

RunDelays run_delays() {
  RunDelays delays;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::ifstream file(task.path() / "schedstat");
    std::string line;
    if (!std::getline(file, line)) continue;
    if (const auto delay = parse_run_delay(line)) {
      delays[std::stoi(task.path().filename().string())] = *delay;
    }
  }
  return delays;
}

TimeNs longest_wait(const RunDelays& before, const RunDelays& after) {
  TimeNs longest = 0;
  for (const auto& [thread, delay] : after) {
    const auto earlier = before.find(thread);
    longest = std::max(longest, delay - (earlier == before.end() ? 0 : earlier->second));
  }
  return longest;
}

}  // namespace livebtl::e2e
