// SPDX-License-Identifier: BSD-3-Clause
// repeated_command_test.cc -- commands that find nothing to change: what they must report all the
// same.
#include <doctest/doctest.h>

#include "control/ladder/coordinator.h"
#include "tests/sim/ladder/ladder_world.h"

using namespace livebtl;
using namespace livebtl::control;

namespace {

const std::string kEastern = "00000000000000aa";

/// The outcome in a job of one process, on the node east, with this routing.
Outcome said_of(const std::string& verb, const std::vector<std::string>& arguments,
                const Routing& routing, const std::string& scope = "") {
  Command command;
  command.job = "job";
  command.verb = verb;
  command.arguments = arguments;
  command.scope = scope;
  command.coordinator = 1;
  command.operation = 7;
  Standing one;
  one.member = {ProcessId{1}, Incarnation{1}};
  one.version = 1;
  one.node = kEastern;
  one.host = "east";
  one.transports = {{"sm", ""}, {"tcp", ""}, {"verbs", "", true}};
  one.routing = routing;
  CoordinatorMachine machine(command, 0);
  machine.step(Tick{}, 0);
  machine.step(MembersFound{1, {one.member}}, 0);
  machine.step(one, 0);
  REQUIRE(machine.done());
  CHECK(machine.outcome().code == ExitCode::kDone);
  CHECK(machine.outcome().already);
  return machine.outcome();
}

bool has(const Outcome& outcome, const std::string& words) {
  return outcome.text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("a command for the job names the nodes about which one of their own has ruled") {
  Routing routing;
  routing.nodes[kEastern].excluded = {"sm"};
  CHECK(has(said_of("add", {"sm"}, routing), "not on node:" + kEastern + " (east)"));
  CHECK_FALSE(has(said_of("add", {"tcp"}, routing), "not on"));
  routing.nodes[kEastern] = {};
  routing.nodes[kEastern].quiesced = {"tcp"};
  CHECK(has(said_of("add", {"tcp"}, routing), "not on node:" + kEastern));
  routing.nodes[kEastern] = {};
  routing.nodes[kEastern].set_aside = {"verbs"};
  CHECK(has(said_of("checkpoint", {"return"}, routing), "not on node:" + kEastern));
  CHECK_FALSE(has(said_of("checkpoint", {"prepare", "verbs"}, routing, "node:east"), "not on"));
  routing.moved = {{"sm", "tcp"}};
  CHECK_FALSE(has(said_of("switch", {"sm", "tcp"}, routing), "not on"));
  routing.nodes[kEastern].moved = {{"sm", "sm"}, {"tcp", "sm"}};
  CHECK(has(said_of("switch", {"sm", "tcp"}, routing), "not on node:" + kEastern));
}

TEST_CASE("a return for one node says that the whole job has set something aside") {
  Routing routing;
  routing.set_aside = {"verbs"};
  CHECK(has(said_of("checkpoint", {"return"}, routing, "node:east"), "for the whole job"));
  CHECK_FALSE(has(said_of("checkpoint", {"return"}, {}, "node:east"), "for the whole job"));
}

TEST_CASE("what somebody else held when it was released is not free because one asks again") {
  LadderWorld world(2, 5);
  world.member(1).engine.other_holders = {"sm: pid 7 (ucx): fd 9"};
  CHECK(world.finish(world.start("remove", {"sm"})).code == ExitCode::kForeign);
  for (const char* verb : {"remove", "checkpoint"}) {
    const std::vector<std::string> arguments = std::string(verb) == "remove"
                                                   ? std::vector<std::string>{"vader"}
                                                   : std::vector<std::string>{"prepare", "sm"};
    const Outcome again = world.finish(world.start(verb, arguments));
    CHECK(again.code == ExitCode::kForeign);
    CHECK(again.already);
    CHECK(again.other_holders == std::vector<std::string>{"rank 1: sm: pid 7 (ucx): fd 9"});
  }
  CHECK(world.finish(world.start("checkpoint", {"prepare"})).code == ExitCode::kDone);
  world.member(1).engine.other_holders.clear();
  CHECK(world.finish(world.start("add", {"sm"})).code == ExitCode::kDone);
  CHECK(world.finish(world.start("remove", {"sm"})).code == ExitCode::kDone);
}
