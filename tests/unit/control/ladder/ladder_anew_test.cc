// SPDX-License-Identifier: BSD-3-Clause
// ladder_anew_test.cc -- coordinators that find something other than they expected: another that
// the job took for dead, a whole ladder between their questions, an unreachable rung that they take
// over.
#include <doctest/doctest.h>

#include <algorithm>

#include "control/ladder/coordinator.h"
#include "tests/unit/control/ladder/switches.h"

using namespace livebtl;
using namespace livebtl::control;

namespace {

constexpr std::uint64_t kOurs = 1;
constexpr std::uint64_t kOther = 3;

/// Moves it to where another's `switch tcp sm` has ended, the job's ladder number `epoch`.
void end_other_ladder(Standing& standing, std::uint32_t epoch) {
  ++standing.version;
  standing.epoch = epoch;
  standing.rung = Rung::kNew;
  standing.reached = true;
  standing.operation.id = 9;
  standing.routing.moved = {{"tcp", "sm"}};
}

/// A coordinator of `switch sm tcp`, and the only member of its job.
struct OneMember {
  OneMember() {
    one.member = {ProcessId{1}, Incarnation{1}};
    one.transports = {{"sm", ""}, {"tcp", ""}};
    machine.step(Tick{}, 0);
    machine.step(MembersFound{++scans, {one.member}}, 0);
  }
  static Command command() {
    Command command;
    command.job = "job";
    command.verb = "switch";
    command.arguments = {"sm", "tcp"};
    command.coordinator = kOurs;
    command.operation = 7;
    return command;
  }
  /// The member says that it follows this term, and every scan is answered. Was it given an order?
  bool follows(const Term& term) {
    ++one.version;
    one.term = term;
    auto actions = machine.step(one, 0);
    while (std::ranges::any_of(
        actions, [](const auto& action) { return std::holds_alternative<Scan>(action); })) {
      actions = machine.step(MembersFound{++scans, {one.member}}, 0);
    }
    return std::ranges::any_of(actions, [](const auto& action) {
      const auto* send = std::get_if<Send>(&action);
      return send != nullptr && std::holds_alternative<Order>(send->request);
    });
  }

  CoordinatorMachine machine{command(), 0};
  Standing one;
  std::uint64_t scans = 0;
};

bool reached(LadderWorld& world, std::size_t member, Rung rung) {
  return at_rung(world, member, rung) && world.member(member).machine.standing(world.now()).reached;
}

}  // namespace

TEST_CASE("who was taken for dead before anybody followed begins again") {
  OneMember job;
  job.follows({});
  REQUIRE(job.follows({1, kOurs}));
  job.follows({2, 2});  // the job's own coordinator, which found nothing to finish, and rests
  REQUIRE_FALSE(job.machine.done());
  CHECK(job.follows({3, kOurs}));
}

TEST_CASE("... but not if it was an operator who came: he may have wanted it to stop") {
  OneMember job;
  job.follows({});
  REQUIRE(job.follows({1, kOurs}));
  job.follows({2, 3});
  REQUIRE(job.machine.done());
  CHECK(job.machine.outcome().code == ExitCode::kRetracted);
}

TEST_CASE("... nor if another command came and did its work in between: then it is busy") {
  OneMember job;
  job.follows({});
  REQUIRE(job.follows({1, kOurs}));
  end_other_ladder(job.one, 1);
  job.follows({2, kOther});
  REQUIRE(job.machine.done());
  CHECK(job.machine.outcome().code == ExitCode::kBusy);
}

TEST_CASE("answers of before and after another's ladder are asked for again") {
  CoordinatorMachine machine(OneMember::command(), 0);
  Standing one, two;
  one.member = {ProcessId{1}, Incarnation{1}};
  two.member = {ProcessId{2}, Incarnation{1}};
  one.transports = two.transports = {{"sm", ""}, {"tcp", ""}};
  machine.step(Tick{}, 0);
  machine.step(MembersFound{1, {one.member, two.member}}, 0);
  machine.step(one, 0);  // before that ladder
  end_other_ladder(two, 1);
  machine.step(two, 0);  // after it
  REQUIRE_FALSE(machine.done());
  const auto actions = machine.step(Tick{}, machine.wake_at());
  REQUIRE(actions.size() == 1);
  const auto* again = std::get_if<Send>(actions.data());
  REQUIRE(again != nullptr);
  CHECK(again->to == one.member);
  CHECK(std::holds_alternative<StandingRequest>(again->request));

  end_other_ladder(one, 1);
  const auto next = machine.step(one, machine.wake_at());
  CHECK_FALSE(machine.done());
  CHECK(std::ranges::any_of(next, [](const auto& action) {
    const auto* send = std::get_if<Send>(&action);
    return send != nullptr && std::holds_alternative<PromiseRequest>(send->request);
  }));
}

TEST_CASE("members that differ since their start are named") {
  CoordinatorMachine machine(OneMember::command(), 0);
  Standing one, two;
  one.member = {ProcessId{1}, Incarnation{1}};
  two.member = {ProcessId{2}, Incarnation{1}};
  two.routing.excluded = {"sm"};
  machine.step(Tick{}, 0);
  machine.step(MembersFound{1, {one.member, two.member}}, 0);
  machine.step(one, 0);
  machine.step(two, 0);
  REQUIRE(machine.done());
  CHECK(machine.outcome().code == ExitCode::kRefused);
}

TEST_CASE("a rung that cannot be reached is left, by whoever takes over") {
  for (const Rung rung : {Rung::kJoint, Rung::kNewTx}) {
    for (const char* verb : {"abort", "resume"}) {
      CAPTURE(rung_name(rung));
      CAPTURE(verb);
      LadderWorld world(3, 23);
      const std::size_t first = world.start("switch", {"sm", "tcp"});
      const Rung below = rung == Rung::kJoint ? Rung::kOld : Rung::kJoint;
      REQUIRE(world.run_until([&] { return reached(world, 1, below); }));
      world.member(1).engine.stall = true;
      REQUIRE(world.run_until([&] {
        return at_rung(world, 0, rung) && at_rung(world, 1, rung) && at_rung(world, 2, rung);
      }));
      world.kill_coordinator(first);
      const std::size_t next = world.start(verb);
      REQUIRE(world.run_until([&] { return at_rung(world, 1, below); }));
      world.member(1).engine.stall = false;
      world.calm();
      const bool aborts = verb == std::string("abort");
      CHECK(world.finish(next).code == (aborts ? ExitCode::kDone : ExitCode::kRetracted));
      CHECK(world.routing() == Routing{});
    }
  }
}
