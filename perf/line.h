// SPDX-License-Identifier: BSD-3-Clause
// perf/line.h -- btlperf's command line: what is measured, between which two processes, what is
// printed. One thread.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <array>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/exit_code.h"

namespace livebtl::perf {

enum class Test { kLatency, kBandwidth, kBidirectional, kRate, kPut, kGet, kAtomic };

struct TestInfo {
  Test test;
  const char* name;
  const char* measures;  // for --help, completion and the head of the table
  const char* sizes;     // if none are given
};
inline constexpr std::array<TestInfo, 7> kTests{{
    {Test::kLatency, "latency", "half a round trip of one message, us", "1:4M"},
    {Test::kBandwidth, "bandwidth", "messages one way, a window at a time", "1:4M"},
    {Test::kBidirectional, "bidirectional", "messages both ways at once", "1:4M"},
    {Test::kRate, "rate", "small messages a second, one way", "8"},
    {Test::kPut, "put", "a put until it is in the other's memory, us", "1:4M"},
    {Test::kGet, "get", "a get until it is here, us", "1:4M"},
    {Test::kAtomic, "atomic", "a fetch-and-add of 8 bytes, us", "8"},
}};
const TestInfo& info_of(Test test) noexcept;
/// Do messages follow each other without an answer to each, so that the rate is what counts?
bool is_stream(Test test) noexcept;

struct Line {
  Test test = Test::kLatency;
  std::vector<std::size_t> sizes;         // not empty
  std::uint64_t rounds = 0, warm_up = 0;  // 0: rounds_for(), warm_up_for()
  bool warm_up_given = false;
  std::size_t window = 0;               // 0: window_for()
  std::vector<std::string> transports;  // empty: the library's choice
  TimeNs switch_every = 0;              // 0: no switches
  std::uint32_t switches = 20;          // per size, at least
  bool check = false;
  std::string job;  // empty: both processes are started here
  int rank = -1;
  std::string meet;
  double timeout_s = 30;
  bool json = false, histogram = false, dry_run = false;
  std::string plot;  // a file; empty: none

  TimeNs timeout() const noexcept { return static_cast<TimeNs>(timeout_s * 1e9); }
  bool starts_both() const noexcept { return job.empty(); }
  // As in the OSU benchmarks: fewer of large messages.
  std::uint64_t rounds_for(std::size_t bytes) const noexcept;
  std::uint64_t warm_up_for(std::size_t bytes) const noexcept;
  std::size_t window_for() const noexcept;
};

/// The program ends here, with this on standard output (kDone) or standard error.
struct LineEnd {
  ExitCode code = ExitCode::kDone;
  std::string text;
  std::string why;  // of a failure: the text without what is for people alone
};

/// arguments: without the program's name; hostile.
std::variant<Line, LineEnd> parse_line(std::vector<std::string> arguments);
/// The parser, also for manual and completion. Parsed values go to `line`, which must outlive it.
std::unique_ptr<CLI::App> define_line(Line& line);
/// Everything that must be the same for both processes, as one line.
std::string agreement(const Line& line);

}  // namespace livebtl::perf
