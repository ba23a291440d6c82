// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/vm_options_test.cc -- what the command vm accepts, and what it refuses.
#include <doctest/doctest.h>

#include "ctl-tool/command_line.h"
#include "ctl-tool/commands/vm.h"

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
  return end != nullptr && end->exit_code == livebtl::ExitCode::kUsage &&
         end->text.find(because) != std::string::npos;
}

}  // namespace

TEST_CASE("vm migrate with all that it takes") {
  const auto parse =
      parsed({"--card", "a", "--card", "b", "--card-args", R"({"driver":"d","id":"b","bus":"x"})",
              "--destination-qmp", "Q", "--destination-ga", "G", "--guest-btlctl", "/opt/btlctl",
              "--timeout", "30", "--dry-run"});
  const auto* line = std::get_if<CommandLine>(&parse);
  REQUIRE(line != nullptr);
  CHECK(line->command == "vm");
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

TEST_CASE("options may stand before the action, and keep their order") {
  const auto parse = parse_command_line(
      {"vm", "--card", "b", "migrate", "--card", "a", "--qmp", "q", "--ga", "g", "--to", "h:1"},
      "");
  const auto* line = std::get_if<CommandLine>(&parse);
  REQUIRE(line != nullptr);
  CHECK(line->vm.cards == Words{"b", "a"});
}

TEST_CASE("vm refuses what cannot be meant") {
  CHECK(refused(parsed({}), "--card"));
  CHECK(refused(parsed({"--card", "a", "--card", "a"}), "twice"));
  CHECK(refused(parsed({"--card", "a b"}), "device's id"));
  CHECK(refused(parsed({"--card", "a", "--card-args", "{"}),
                "--card-args: not what device_add takes"));
  CHECK(refused(parsed({"--card", "a", "--card-args", R"({"driver":"d"})"}),
                "--card-args: not what device_add takes"));
  CHECK(refused(parsed({"--card", "a", "--card-args", R"({"driver":"d","id":"b"})"}), "no --card"));
  CHECK(refused(parsed({"--card", "a", "--card-args", R"({"driver":"d","id":"a","x":[1]})"}),
                "plain value"));
  CHECK(refused(parsed({"--card", "a", "--destination-qmp", "Q"}), "requires"));
  const auto there = [](const std::string& qmp, const std::string& agent) {
    return parsed({"--card", "a", "--destination-qmp", qmp, "--destination-ga", agent});
  };
  CHECK(refused(there("q", "G"), "are the same monitor, q"));
  CHECK(refused(there("./x/../q", "G"), "are the same monitor, q"));
  CHECK(refused(there("Q", "g"), "are the same socket, g"));
  CHECK(refused(parsed({"--card", "a", "--timeout", "29.9"}), "30 s at least"));
  CHECK(refused(parsed({"--card", "a", "--no-wait"}), "--no-wait is not"));
  CHECK(refused(parse_command_line({"vm", "fly"}, ""), "vm takes migrate, snapshot or restore"));
  CHECK(refused(parse_command_line(
                    {"vm", "migrate", "--qmp", "q", "--ga", "g", "--to", "h", "--card", "a"}, ""),
                "--to: it takes a URI"));
}

namespace {

std::variant<CommandLine, EndNow> parsed_set(const std::string& action, Words more) {
  Words words = {"vm", action, "there"};
  words.insert(words.end(), more.begin(), more.end());
  return parse_command_line(words, "");
}

}  // namespace

TEST_CASE("vm snapshot and restore with all that they take") {
  const auto parse = parsed_set("snapshot", {"--vm", "vm1,qmp=q1,ga=g1,card=a,card=b", "--vm",
                                             "vm2,qmp=q2", "--lease", "90", "--disks-are-mine"});
  const auto* line = std::get_if<CommandLine>(&parse);
  REQUIRE(line != nullptr);
  CHECK(line->arguments == Words{"snapshot"});
  CHECK(line->vm.directory == "there");
  CHECK(line->lease_s == 90.0);
  CHECK(line->vm.disks_are_mine);
  REQUIRE(line->vm.machines.size() == 2);
  const auto machine = read_machine(line->vm.machines[0]);
  REQUIRE(machine);
  CHECK(machine->name == "vm1");
  CHECK(machine->place.monitor == "q1");
  CHECK(machine->place.agent == "g1");
  CHECK(machine->cards == Words{"a", "b"});
  CHECK(read_machine(line->vm.machines[1])->place.agent.empty());
  CHECK(std::holds_alternative<CommandLine>(parsed_set("restore", {"--vm", "vm1,qmp=q,ga=g"})));
}

TEST_CASE("vm snapshot and restore refuse what cannot be meant") {
  const Words one = {"--vm", "vm1,qmp=q,ga=g"};
  const auto with = [&one](Words more) {
    more.insert(more.begin(), one.begin(), one.end());
    return more;
  };
  CHECK(refused(parsed_set("snapshot", {}), "--vm is required"));
  CHECK(refused(parse_command_line({"vm", "restore", "--vm", "v,qmp=q,ga=g"}, ""),
                "DIR is required"));
  CHECK(refused(parsed_set("snapshot", {"--vm", "vm1,qmp=q"}), "ga=SOCKET"));
  CHECK(refused(parsed_set("snapshot", with({"--qmp", "q"})),
                "vm snapshot takes no --qmp; migrate does"));
  CHECK(refused(parsed_set("snapshot", with({"--vm", "vm1,qmp=r"})), "twice"));
  CHECK(refused(parsed_set("snapshot", with({"--vm", "vm2,qmp=q"})), "vm1 and --vm vm2 have"));
  CHECK(refused(parsed_set("restore", with({"--vm", "vm2,qmp=./x/../q"})), "the same qmp="));
  CHECK(refused(parsed_set("snapshot", with({"--lease", "59"})), "from 60"));
  CHECK(refused(parsed_set("snapshot", with({"--lease", "nan"})), "from 60"));
  CHECK(refused(parsed_set("snapshot", with({"--no-wait"})), "--no-wait is not"));
  CHECK(refused(parsed_set("restore", {"--vm", "vm1,qmp=q,ga=g,card=a"}), "give no card="));
  CHECK(refused(parsed({"--card", "a", "--vm", "vm1,qmp=q"}),
                "vm migrate takes no --vm; snapshot and restore do"));
  for (const char* machine :
       {"", "vm1", "vm1,", "vm1,,qmp=q", "vm1,qmp=", "vm1,qmp", "vm1,qmp=q,qmp=r",
        "vm1,qmp=q,nic=a", "vm1,qmp=q,card=a b", "vm1,qmp=q,card=a,card=a", "../vm1,qmp=q",
        "1,qmp=q", ",qmp=q", "vm1,qmp=q,"}) {
    CAPTURE(machine);
    CHECK_FALSE(read_machine(machine));
  }
}

TEST_CASE("vm by libvirt: a guest is named as its domain") {
  const auto domain = [](Words more) {
    Words words = {"vm", "migrate", "--domain", "vm1", "--card", "hostdev0"};
    words.insert(words.end(), more.begin(), more.end());
    return parse_command_line(words, "");
  };
  const auto parse = domain({"--connect", "qemu:///system", "--to", "qemu+ssh://node8/system"});
  const auto* line = std::get_if<CommandLine>(&parse);
  REQUIRE(line != nullptr);
  CHECK(line->vm.domain == "vm1");
  CHECK(line->connect == "qemu:///system");
  CHECK(std::holds_alternative<CommandLine>(domain({"--to", "qemu+ssh://node8/system"})));
  CHECK(refused(domain({"--to", "tcp:node8:4444"}), "--to: it takes a URI of libvirt"));
  CHECK(refused(domain({"--to", "qemu://b/system", "--connect", "node7:40123"}), "libvirt's URI"));
  CHECK(refused(domain({"--to", "qemu://b/system", "--qmp", "q"}), "without --qmp and --ga"));
  CHECK(refused(parsed({"--card", "a", "--destination-connect", "qemu://b/system"}),
                "goes with --domain"));
  CHECK(
      refused(parsed({"--card", "a", "--connect", "qemu:///system"}), "--connect is not possible"));
  CHECK(refused(parse_command_line({"vm", "migrate", "--card", "a", "--to", "tcp:h:1"}, ""),
                "--domain is required, or --qmp and --ga"));
  CHECK(refused(parse_command_line({"--connect", "qemu:///system", "list"}, ""), "HOST:PORT"));
}

TEST_CASE("vm by libvirt: machines of a set are all domains, or none") {
  const Words both = {"--vm", "vm1,domain=a,card=hostdev0", "--vm",
                      "vm2,domain=b,connect=qemu+ssh://n/system"};
  CHECK(std::holds_alternative<CommandLine>(parsed_set("snapshot", both)));
  CHECK(read_machine("vm2,domain=b,connect=qemu://n/system?socket=/s")->place.monitor ==
        "qemu://n/system?socket=/s");
  CHECK(refused(parsed_set("snapshot", {"--vm", "vm1,domain=a", "--vm", "vm2,qmp=q,ga=g"}),
                "all machines as domains"));
  CHECK(refused(parsed_set("restore", {"--vm", "vm1,domain=a", "--vm", "vm2,domain=a"}),
                "are the same domain"));
  for (const char* machine : {"vm1,domain=a,qmp=q", "vm1,domain=a,ga=g", "vm1,connect=qemu:///s",
                              "vm1,domain=a,connect=here", "vm1,domain="}) {
    CAPTURE(machine);
    CHECK_FALSE(read_machine(machine));
  }
}

TEST_CASE("vm snapshot takes a series, and refuses half of one") {
  const auto snapshot = [](Words more) {
    Words words = {"vm", "snapshot", "sets", "--vm", "vm1,qmp=q,ga=g"};
    words.insert(words.end(), more.begin(), more.end());
    return parse_command_line(words, "");
  };
  const auto parse = snapshot({"--every", "30m", "--keep", "4"});
  const auto* line = std::get_if<CommandLine>(&parse);
  REQUIRE(line != nullptr);
  CHECK(line->vm.every == "30m");
  CHECK(line->vm.keep == 4);
  CHECK(refused(snapshot({"--every", "30m"}), "--every needs --keep"));
  CHECK(refused(snapshot({"--every", "30", "--keep", "4"}), "--every"));
  CHECK(refused(snapshot({"--keep", "0"}), "--keep"));
  const auto once = snapshot({"--keep", "1"});
  CHECK(std::get_if<CommandLine>(&once) != nullptr);
}
