// SPDX-License-Identifier: BSD-3-Clause
// perf/main.cc -- btlperf: measures messages, puts, gets and atomics between two processes over
// livebtl's C++ interface, without MPI, also while the transport is switched. docs/adr/0068 says
// what it measures and how.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "perf/both.h"
#include "perf/complete.h"
#include "perf/report.h"
#include "perf/take_part.h"

namespace livebtl::perf {
namespace {

ExitCode say_plan(const Line& line) {
  const std::string text = plan_text(line);
  const std::string shown = line.json ? json_plan(line, text.substr(0, text.find('\n'))) : text;
  std::fputs(shown.c_str(), stdout);
  return ExitCode::kDone;
}

ExitCode run(const Line& line) {
  if (line.dry_run) return say_plan(line);
  if (const ExitCode code = try_plot(line); code != ExitCode::kDone) return code;
  return line.starts_both() ? run_both(line) : take_part(line, {});
}

/// A line that was not understood may still have asked for a document.
ExitCode end_line(const LineEnd& end, const std::vector<std::string>& words) {
  const bool done = end.code == ExitCode::kDone;
  std::fputs(end.text.c_str(), done ? stdout : stderr);
  if (!done && std::find(words.begin(), words.end(), "--json") != words.end())
    std::fputs(json_failure(end.code, end.why).c_str(), stdout);
  return end.code;
}

int run_words(const std::vector<std::string>& words) {
  if (!words.empty() && words.front() == "__complete") {
    std::fputs(completion_text({words.begin() + 1, words.end()}).c_str(), stdout);
    return 0;
  }
  const auto parsed = parse_line(words);
  const auto* const end = std::get_if<LineEnd>(&parsed);
  const ExitCode code = end != nullptr ? end_line(*end, words) : run(std::get<Line>(parsed));
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return static_cast<int>(code);
  std::fputs("btlperf: the answer could not be written; is the disk full?\n", stderr);
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace
}  // namespace livebtl::perf

int main(int argc, char** argv) try {
  return livebtl::perf::run_words({argv + 1, argv + argc});
} catch (const std::bad_alloc&) {
  std::fputs(
      "btlperf: there is not enough memory for such buffers; try a smaller --window or --sizes\n",
      stderr);
  return static_cast<int>(livebtl::ExitCode::kNotPermitted);
} catch (const std::exception& error) {
  std::fprintf(stderr, "btlperf: cannot go on: %s\n", error.what());
  return static_cast<int>(livebtl::ExitCode::kNotPermitted);
}
