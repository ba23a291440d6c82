// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/run_line_test.cc -- livebtl-run's command line: its own options, and a launch
// line that is not examined; and which processes are the launcher's.
#include "ctl-tool/run/run_line.h"

#include <doctest/doctest.h>

#include <map>

#include "ctl-tool/run/announce.h"

using namespace livebtl;
using namespace livebtl::tool;

namespace {

RunLine read(std::vector<std::string> arguments) {
  auto parsed = parse_run_line(std::move(arguments));
  REQUIRE(std::holds_alternative<RunLine>(parsed));
  return std::get<RunLine>(std::move(parsed));
}

EndNow ends(std::vector<std::string> arguments) {
  auto parsed = parse_run_line(std::move(arguments));
  REQUIRE(std::holds_alternative<EndNow>(parsed));
  return std::get<EndNow>(std::move(parsed));
}

}  // namespace

TEST_CASE("options before the launcher are ours, all behind it is the launcher's") {
  const RunLine line =
      read({"--show", "--door", "provider", "mpirun", "--show", "-n", "4", "--", "./p", ""});
  CHECK(line.show);
  CHECK(line.wishes.door == launch::Door::kProvider);
  CHECK_FALSE(line.wishes.one_sided);
  CHECK(line.words == std::vector<std::string>{"mpirun", "--show", "-n", "4", "--", "./p", ""});
  CHECK(read({"--door=component", "--one-sided", "--quiet", "--", "srun", "p"}).words ==
        std::vector<std::string>{"srun", "p"});
  CHECK_FALSE(read({"--door", "auto", "mpirun"}).wishes.door);
}

TEST_CASE("what is wrong is said, with what was meant") {
  CHECK(ends({"--shwo", "mpirun"}).text.find("did you mean --show") != std::string::npos);
  for (const auto& wrong : {std::vector<std::string>{},
                            {"--show"},
                            {"--door"},
                            {"--door", "window", "mpirun"},
                            {""},
                            {"--"}}) {
    const EndNow end = ends(wrong);
    CHECK(end.exit_code == ExitCode::kUsage);
    CHECK(end.text.starts_with("livebtl-run: "));
  }
  CHECK(ends({"--help"}).exit_code == ExitCode::kDone);
  CHECK(ends({"--help"}).text.find("LAUNCHER") != std::string::npos);
  CHECK(ends({"--version"}).text.find("livebtl-run 0.") != std::string::npos);
}

TEST_CASE("a rank descends from its launcher, which in a container is process 1") {
  std::map<pid_t, pid_t> parents{{1, 0}, {7, 1}, {9, 7}, {20, 1}, {30, 31}, {31, 30}};
  const auto parent_of = [&](pid_t pid) -> std::optional<pid_t> {
    const auto found = parents.find(pid);
    return found == parents.end() ? std::nullopt : std::optional<pid_t>(found->second);
  };
  CHECK(descends(9, 1, parent_of));
  CHECK(descends(1, 1, parent_of));
  CHECK(descends(9, 7, parent_of));
  CHECK(descends(9, 9, parent_of));
  CHECK_FALSE(descends(20, 7, parent_of));
  CHECK_FALSE(descends(99, 7, parent_of));  // has ended
  CHECK_FALSE(descends(9, 0, parent_of));   // in another PID namespace
  CHECK_FALSE(descends(30, 7, parent_of));  // read while numbers were being reused
}
