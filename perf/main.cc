// SPDX-License-Identifier: BSD-3-Clause
// perf/main.cc -- btlperf: measures what messages, puts, gets and atomics take between two processes over livebtl's C++
// interface, without an MPI, also while the transport is switched. docs/adr/0068 says what it measures and how.
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "perf/both.h"
#include "perf/complete.h"
#include "perf/take_part.h"

namespace livebtl::perf {
namespace {

ExitCode run(const Line& line) {
  if (line.dry_run) {
    std::fputs(plan_text(line).c_str(), stdout);
    return ExitCode::kDone;
  }
  return line.starts_both() ? run_both(line) : take_part(line, {});
}

int run_words(const std::vector<std::string>& words) {
  if (!words.empty() && words.front() == "__complete") {
    std::fputs(completion_text({words.begin() + 1, words.end()}).c_str(), stdout);
    return 0;
  }
  const auto parsed = parse_line(words);
  ExitCode code = ExitCode::kUsage;
  if (const auto* end = std::get_if<LineEnd>(&parsed)) {
    std::fputs(end->text.c_str(), end->code == ExitCode::kDone ? stdout : stderr);
    code = end->code;
  } else {
    code = run(std::get<Line>(parsed));
  }
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
