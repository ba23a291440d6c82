// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/hold_options_test.cc -- the command lines of `btlctl hold` and `checkpoint`.
#include <doctest/doctest.h>

#include "ctl-tool/options.h"

using namespace livebtl::tool;

namespace {

using Words = std::vector<std::string>;

CommandLine hold_line(Words words) {
  const auto parsed = parse_command_line(std::move(words), "");
  REQUIRE(std::holds_alternative<CommandLine>(parsed));
  return std::get<CommandLine>(parsed);
}

}  // namespace

TEST_CASE("hold takes an action, a lease to start with, and an id to look for") {
  CHECK(hold_line({"hold", "start"}).lease_or(60.0) == 60 * livebtl::kSecond);
  CHECK(hold_line({"hold", "start", "--lease", "1.5"}).lease_s == 1.5);
  for (const char* action : {"start", "renew", "check", "end"})
    CHECK(read_hold_id(hold_line({"hold", action, "--id", "0x1f"}).hold_id) == 0x1f);
}

TEST_CASE("what makes no sense with hold is refused") {
  const std::vector<Words> lines = {{"hold"},
                                    {"hold", "on"},
                                    {"hold", "start", "--lease", "0"},
                                    {"hold", "start", "--lease", "-1"},
                                    {"hold", "start", "--lease", "nan"},
                                    {"hold", "start", "--lease", "1e9"},
                                    {"hold", "start", "--id", "1"},
                                    {"hold", "renew", "--lease", "0"},
                                    {"hold", "end", "--id", "0"},
                                    {"hold", "end", "--id", "0x"},
                                    {"hold", "end", "--id", "0x0"},
                                    {"hold", "check", "--id", "0x10000000000000000"},
                                    {"hold", "check", "--id", "0x1 "},
                                    {"--no-wait", "hold", "start"}};
  for (const Words& line : lines) {
    CAPTURE(line);
    const auto parsed = parse_command_line(line, "");
    REQUIRE(std::holds_alternative<EndNow>(parsed));
    CHECK(std::get<EndNow>(parsed).exit_code == livebtl::ExitCode::kUsage);
  }
}

TEST_CASE("job restored takes an id and a lease, and waits") {
  const CommandLine line = hold_line({"job", "restored", "--id", "0x1f", "--lease", "5"});
  CHECK(line.arguments == Words{"restored"});
  CHECK(read_hold_id(line.hold_id) == 0x1f);
  const std::vector<Words> lines = {{"job"},
                                    {"job", "snapshot"},
                                    {"job", "restored", "--id", "1f"},
                                    {"job", "restored", "--lease", "0"},
                                    {"--no-wait", "job", "restored"}};
  for (const Words& each : lines) {
    CAPTURE(each);
    const auto parsed = parse_command_line(each, "");
    REQUIRE(std::holds_alternative<EndNow>(parsed));
    CHECK(std::get<EndNow>(parsed).exit_code == livebtl::ExitCode::kUsage);
  }
}

TEST_CASE("checkpoint takes an action, transports to set aside, and a lease only for a hold") {
  const CommandLine line = hold_line(
      {"checkpoint", "prepare", "openib", "--scope", "node:vm1", "--hold", "--lease", "5"});
  CHECK(line.arguments == Words{"prepare", "verbs"});
  CHECK(line.scope == "node:vm1");
  CHECK(line.hold);
  CHECK(line.lease_s == 5.0);
  CHECK(hold_line({"checkpoint", "return"}).arguments == Words{"return"});
  const std::vector<Words> lines = {{"checkpoint"},
                                    {"checkpoint", "begin"},
                                    {"checkpoint", "return", "verbs"},
                                    {"checkpoint", "return", "--hold"},
                                    {"checkpoint", "prepare", "--lease", "5"},
                                    {"checkpoint", "prepare", "--hold", "--lease", "0"},
                                    {"checkpoint", "prepare", "--scope", "vm1"},
                                    {"--no-wait", "checkpoint", "prepare", "--hold"}};
  for (const Words& each : lines) {
    CAPTURE(each);
    const auto parsed = parse_command_line(each, "");
    REQUIRE(std::holds_alternative<EndNow>(parsed));
    CHECK(std::get<EndNow>(parsed).exit_code == livebtl::ExitCode::kUsage);
  }
}
