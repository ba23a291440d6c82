// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/perf/line_test.cc -- btlperf's command line: which defaults are filled in, what is
// refused and why, what shells are offered.
#include "perf/line.h"

#include <doctest/doctest.h>

#include "perf/both.h"
#include "perf/complete.h"
#include "tests/unit/says.h"

using namespace livebtl;
using namespace livebtl::perf;
using livebtl::test::says;

namespace {

using Words = std::vector<std::string>;

Line taken(const Words& words) {
  const auto parsed = parse_line(words);
  const auto* end = std::get_if<LineEnd>(&parsed);
  REQUIRE_MESSAGE(end == nullptr, (end != nullptr ? end->text : ""));
  return std::get<Line>(parsed);
}

/// Returns "" if the line was accepted.
std::string refused(const Words& words) {
  const auto parsed = parse_line(words);
  const auto* end = std::get_if<LineEnd>(&parsed);
  if (end == nullptr) return "";
  CHECK(end->code == ExitCode::kUsage);
  CHECK(end->text == "btlperf: " + end->why + "\nTry: btlperf --help\n");
  return end->text;
}

}  // namespace

TEST_CASE("what is not given is as the OSU benchmarks have it") {
  const Line latency = taken({"latency"});
  CHECK(latency.sizes.size() == 23);
  CHECK(latency.rounds_for(8) == 10'000);
  CHECK(latency.rounds_for(65536) == 1000);
  CHECK(latency.warm_up_for(8) == 100);
  CHECK(latency.window_for() == 1);
  CHECK(latency.starts_both());
  const Line bandwidth = taken({"bandwidth"});
  CHECK(bandwidth.rounds_for(8) == 100);
  CHECK(bandwidth.window_for() == 64);
  CHECK(taken({"rate"}).sizes == std::vector<std::size_t>{8});
  CHECK(taken({"put"}).window_for() == 1);
}

TEST_CASE("what is given counts") {
  const Line line = taken({"put", "--size", "8,1K", "--rounds", "7", "--warm-up", "0", "--window",
                           "3", "--transport", "vader,tcp", "--json", "--histogram"});
  CHECK(line.test == Test::kPut);
  CHECK(line.sizes == std::vector<std::size_t>{8, 1024});
  CHECK(line.rounds_for(1024) == 7);
  CHECK(line.warm_up_for(8) == 0);
  CHECK(line.window_for() == 3);
  CHECK(line.transports == Words{"sm", "tcp"});
  CHECK((line.json && line.histogram && !line.check));
  CHECK(taken({"latency", "--transport", "tcp,ofi:tcp;ofi_rxm"}).transports.size() == 2);
}

TEST_CASE(
    "through switches every byte is compared, between shared memory and tcp if nothing else is "
    "named") {
  const Line line = taken({"latency", "--switch-every", "5ms"});
  CHECK(line.check);
  CHECK(line.transports == Words{"sm", "tcp"});
  CHECK(line.switch_every == 5 * kMillisecond);
  CHECK(says(refused({"latency", "--switch-every", "5ms", "--transport", "sm"}), "two transports"));
  CHECK(
      says(refused({"latency", "--switch-every", "5ms", "--transport", "sm,vader"}), "different"));
  CHECK(says(refused({"latency", "--switch-every", "5"}), "5ms"));
}

TEST_CASE("one of two processes needs job, rank and meeting place") {
  const Line line = taken({"latency", "--job", "a", "--rank", "1", "--ranks", "2", "--meet", "/m"});
  CHECK_FALSE(line.starts_both());
  CHECK(line.rank == 1);
  CHECK(says(refused({"latency", "--job", "a"}), "go together"));
  CHECK(says(refused({"latency", "--rank", "0"}), "go together"));
  CHECK(says(refused({"latency", "--job", "a/b", "--rank", "0", "--meet", "/m"}), "letters"));
  CHECK_FALSE(refused({"latency", "--ranks", "3"}).empty());
}

TEST_CASE("what is wrong is said, with what may have been meant") {
  CHECK(says(refused({}), "a test is needed"));
  CHECK(says(refused({"latencies"}), "did you mean latency?"));
  CHECK(says(refused({"latency", "--transprot", "sm"}), "did you mean --transport?"));
  CHECK(says(refused({"latency", "rate"}), "one test at a time"));
  CHECK(says(refused({"latency", ""}), "empty"));
  CHECK(says(refused({"atomic", "--size", "4"}), "8 bytes"));
  CHECK(says(refused({"get", "--size", "0"}), "at least one byte"));
  CHECK(says(refused({"latency", "--timeout", "nan"}), "seconds"));
  for (const Words& words :
       {Words{"latency", "--rounds", "0"}, Words{"latency", "--size", "2G"},
        Words{"latency", "--window", "5000"}, Words{"latency", "--transport", "A b"},
        Words{"latency", "--transport", "sm,"}})
    CHECK_FALSE(refused(words).empty());
  CHECK_FALSE(says(refused({"latency", "\x1b[2J"}), "\x1b"));
}

TEST_CASE("--help and --version are no errors") {
  for (const char* word : {"--help", "--version"}) {
    const auto parsed = parse_line({word});
    REQUIRE(std::holds_alternative<LineEnd>(parsed));
    CHECK(std::get<LineEnd>(parsed).code == ExitCode::kDone);
    CHECK(says(std::get<LineEnd>(parsed).text, "btlperf"));
  }
}

TEST_CASE("processes that were told different things do not agree") {
  const std::string one = agreement(taken({"latency", "--size", "8", "--rounds", "5"}));
  CHECK(one == agreement(taken({"latency", "--size", "8"})));
  CHECK(one != agreement(taken({"latency", "--size", "16"})));
  CHECK(one != agreement(taken({"latency", "--size", "8", "--check"})));
  CHECK(one != agreement(taken({"put", "--size", "8"})));
  CHECK(agreement(taken({"rate"})) != agreement(taken({"rate", "--window", "2"})));
}

TEST_CASE("a plan says what would be measured and by whom") {
  CHECK(plan_text(taken({"latency", "--size", "64K", "--transport", "sm"})) ==
        "latency of 64 KiB, 1000 times of the first, 1 at once, over sm; two processes on this "
        "machine\n");
  CHECK(says(plan_text(taken({"rate", "--job", "a", "--rank", "1", "--meet", "/m"})),
             "rank 1 of job a"));
}

TEST_CASE("a shell is offered tests, options and transports") {
  CHECK(says(completion_text({""}), "latency\t"));
  CHECK(completion_text({"lat"}).starts_with("latency\t"));
  CHECK(says(completion_text({"latency", "--sw"}), "--switch-every\t"));
  CHECK(completion_text({"latency", ""}).empty());
  CHECK(says(completion_text({"latency", "--transport", "sm,t"}), "sm,tcp\t"));
  CHECK(completion_text({"--meet", ""}) == ":directories\n");
  CHECK(completion_text({"--plot", "x"}) == ":files\n");
  CHECK(completion_text({"--rounds", ""}).empty());
  CHECK(says(completion_text({}), "atomic\t"));
}
