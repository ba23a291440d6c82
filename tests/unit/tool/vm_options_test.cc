// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/tool/vm_options_test.cc -- what the verb vm takes, and what it refuses.
#include <doctest/doctest.h>

#include "ctl-tool/command_line.h"

using namespace livebtl::tool;

namespace {

using Words = std::vector<std::string>;

std::variant<CommandLine, EndNow> parsed(Words more) {
  Words words = {"vm", "migrate", "--qmp", "q", "--ga", "g", "--to", "tcp:h:1"};
  words.insert(words.end(), more.begin(), more.end());
  return parse_command_line(words, "");
}

bool refused(const std::variant<CommandLine, EndNow>& parse, const std::string& because) {
  const auto* end = std::get_if<EndNow>(&parse);
  return end != nullptr && end->exit_code == 1 && end->text.find(because) != std::string::npos;
}

}  // namespace

TEST_CASE("vm migrate with all that it takes") {
  const auto parse =
      parsed({"--card", "a", "--card", "b", "--card-args", R"({"driver":"d","id":"b","bus":"x"})",
              "--destination-qmp", "Q", "--destination-ga", "G", "--guest-btlctl", "/opt/btlctl",
              "--timeout", "5", "--dry-run"});
  const auto* line = std::get_if<CommandLine>(&parse);
  REQUIRE(line != nullptr);
  CHECK(line->verb == "vm");
  CHECK(line->arguments == Words{"migrate"});
  CHECK(line->vm.qmp == "q");
  CHECK(line->vm.agent == "g");
  CHECK(line->vm.to == "tcp:h:1");
  CHECK(line->vm.cards == Words{"a", "b"});
  CHECK(line->vm.destination_qmp == "Q");
  CHECK(line->vm.destination_agent == "G");
  CHECK(line->vm.guest_btlctl == "/opt/btlctl");
  CHECK(line->dry_run);
}

TEST_CASE("vm refuses what cannot be meant") {
  CHECK(refused(parsed({}), "--card"));
  CHECK(refused(parsed({"--card", "a", "--card", "a"}), "twice"));
  CHECK(refused(parsed({"--card", "a b"}), "device's id"));
  CHECK(refused(parsed({"--card", "a", "--card-args", "{"}), "--card-args takes"));
  CHECK(refused(parsed({"--card", "a", "--card-args", R"({"driver":"d"})"}), "--card-args takes"));
  CHECK(refused(parsed({"--card", "a", "--card-args", R"({"driver":"d","id":"b"})"}), "no --card"));
  CHECK(refused(parsed({"--card", "a", "--card-args", R"({"driver":"d","id":"a","x":[1]})"}),
                "plain value"));
  CHECK(refused(parsed({"--card", "a", "--destination-qmp", "Q"}), "together"));
  CHECK(refused(parsed({"--card", "a", "--no-wait"}), "waits"));
  CHECK(refused(parse_command_line({"vm", "fly"}, ""), "vm takes migrate"));
  CHECK(refused(parse_command_line(
                    {"vm", "migrate", "--qmp", "q", "--ga", "g", "--to", "h", "--card", "a"}, ""),
                "--to takes a URI"));
}
