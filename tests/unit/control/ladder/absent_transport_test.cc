// SPDX-License-Identifier: BSD-3-Clause
// absent_transport_test.cc -- transports that are permitted but not there: which orders look for
// them, and what is reported about them.
#include <doctest/doctest.h>

#include "control/ladder/coordinator.h"
#include "control/ladder/member.h"
#include "tests/sim/ladder/ladder_world.h"

using namespace livebtl;
using namespace livebtl::control;

namespace {

const std::string kEast = "00000000000000aa";
const std::vector<std::string> kNoVerbs = {"verbs: no RDMA device"};

/// Does this command run a ladder in a job of one process, on the node east, in this state?
bool is_run(const std::string& verb, const std::vector<std::string>& arguments,
            const Routing& routing, const std::vector<std::string>& absent,
            const std::string& scope = "") {
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
  one.node = kEast;
  one.host = "east";
  one.transports = {{"sm", ""}, {"tcp", ""}, {"verbs", "openib", true}};
  one.routing = routing;
  one.report.absent = absent;
  CoordinatorMachine machine(command, 0);
  machine.step(Tick{}, 0);
  machine.step(MembersFound{1, {one.member}}, 0);
  machine.step(one, 0);
  return !machine.done();
}

/// What an engine on the node east is told about this operation.
core::RungOrder told(const std::string& verb, const std::vector<std::string>& arguments,
                     const std::string& node = "") {
  MemberFacts facts;
  facts.job = "job";
  facts.node = kEast;
  MemberMachine member(facts);
  member.step(JoinAsFirst{}, 0);
  member.step(PromiseRequest{"job", {1, 5}}, 0);
  Order order;
  order.job = "job";
  order.term = {1, 5};
  order.seq = 1;
  order.rung = Rung::kJoint;
  order.operation.id = 9;
  order.operation.verb = verb;
  order.operation.arguments = arguments;
  order.operation.node = node;
  for (const auto& action : member.step(order, 0)) {
    if (const auto* submit = std::get_if<Submit>(&action)) return submit->order;
  }
  FAIL("nothing was submitted");
  return {};
}

}  // namespace

TEST_CASE("what members do without is looked for, though it was ruled before") {
  Routing moved, aside;
  moved.moved = {{"tcp", "verbs"}};
  aside.set_aside = {"verbs"};
  CHECK(is_run("add", {"openib"}, {}, kNoVerbs));
  CHECK(is_run("switch", {"tcp", "verbs"}, moved, kNoVerbs));
  CHECK(is_run("checkpoint", {"return"}, {}, kNoVerbs, "node:east"));
  CHECK_FALSE(is_run("add", {"verbs"}, {}, {}));
  CHECK_FALSE(is_run("add", {"tcp"}, {}, kNoVerbs));
  CHECK_FALSE(is_run("checkpoint", {"return"}, {}, {}));
  CHECK_FALSE(is_run("checkpoint", {"prepare", "verbs"}, aside, kNoVerbs));
}

TEST_CASE("a return names what is not there yet, and is done all the same") {
  LadderWorld world(2, 5);
  CHECK(world.finish(world.start("checkpoint", {"prepare", "sm"})).code == ExitCode::kDone);
  world.member(1).engine.absent = {"sm: no device"};
  for (int again = 0; again < 2; ++again) {
    const Outcome outcome = world.finish(world.start("checkpoint", {"return"}));
    CHECK(outcome.code == ExitCode::kDone);
    CHECK_FALSE(outcome.already);
    CHECK(outcome.text.find("returning in the background") != std::string::npos);
    CHECK(outcome.absent == std::vector<std::string>{"rank 1: sm: no device"});
  }
  world.member(1).engine.absent.clear();
  CHECK(world.finish(world.start("checkpoint", {"return"})).text == "checkpoint return: done");
  CHECK(world.finish(world.start("checkpoint", {"return"})).already);
}

TEST_CASE("an engine hears what is asked for by name, and whether it may be absent") {
  CHECK(told("add", {"verbs"}).wanted == "verbs");
  CHECK_FALSE(told("add", {"verbs"}).patient);
  CHECK(told("add", {"verbs"}, kEast).wanted == "verbs");
  CHECK(told("add", {"verbs"}, "elsewhere").wanted.empty());
  CHECK(told("switch", {"tcp", "verbs"}).wanted == "verbs");
  CHECK(told("switch", {"tcp", "verbs"}).patient);
  CHECK(told("checkpoint", {"return"}).patient);
  CHECK_FALSE(told("checkpoint", {"prepare", "verbs"}).patient);
  CHECK(told("set", {"verbs", "weight=1"}).wanted.empty());
}

TEST_CASE("what is absent is told whenever it changes, also before any operation") {
  MemberMachine member(MemberFacts{});
  core::RungReport report;
  report.operation = 4;  // an earlier one
  report.absent = kNoVerbs;
  member.step(report, 0);
  CHECK(member.standing(0).report.absent == kNoVerbs);
  report.absent.clear();
  member.step(report, 0);
  CHECK(member.standing(0).report.absent.empty());
}
