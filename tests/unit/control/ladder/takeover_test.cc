// SPDX-License-Identifier: BSD-3-Clause
// takeover_test.cc -- ladders that a coordinator has abandoned, and members that finish them.
#include <doctest/doctest.h>

#include "tests/unit/control/ladder/switches.h"

using namespace livebtl;
using namespace livebtl::control;

namespace {

/// The operation of the order that is sent; its id is 0 if none is.
Operation operation_in(const std::vector<CoordinatorAction>& actions) {
  for (const auto& action : actions) {
    const auto* sent = std::get_if<Send>(&action);
    const auto* order = sent != nullptr ? std::get_if<Order>(&sent->request) : nullptr;
    if (order != nullptr) return order->operation;
  }
  return {};
}

}  // namespace

TEST_CASE("a ladder whose coordinator is killed ends although nobody calls resume") {
  for (const Rung rung : {Rung::kJoint, Rung::kNewTx, Rung::kNew}) {
    LadderWorld world(3, 40 + static_cast<std::uint64_t>(rung), {0, 0, kMillisecond, true});
    world.members_take_over();
    const auto index = world.start("switch", kSmTcp);
    REQUIRE(world.run_until([&] { return at_rung(world, 2, rung); }));
    world.kill_coordinator(index);
    const TimeNs killed = world.now();
    const auto ended = [&] {
      return world.all_rest() && !world.member(0).machine.abandoned_since();
    };
    REQUIRE(world.run_until(ended));
    CHECK(world.now() - killed >= kCoordinatorLease);
    CHECK(world.now() - killed < kCoordinatorLease + 4 * kSecond);
    CHECK(world.routing().moved.at("sm") == "tcp");
    world.run_until([] { return false; }, 60 * kSecond);
    CHECK(world.coordinator_count() == 2);  // and there it ends
  }
}

TEST_CASE("members finish what an orderly end has left to a stopped one") {
  LadderWorld world(3, 50);
  world.members_take_over();
  world.freeze(2, true);
  world.start("switch", kSmTcp);
  const auto index = world.start("switch", kSmTcp);
  world.freeze(2, false);
  world.finish(index);
  REQUIRE(world.run_until([&] { return at_rung(world, 2, Rung::kNewTx); }));
  world.freeze(2, true);
  world.run_until([] { return false; }, 20 * kSecond);
  CHECK_FALSE(world.all_rest());
  world.freeze(2, false);
  CHECK(world.run_until([&] { return world.all_rest(); }));
}

TEST_CASE("members take nothing from a coordinator that lives, however long it waits") {
  LadderWorld world(3, 51);
  world.members_take_over();
  world.member(1).engine.stall = true;
  CoordinatorTimes times = LadderWorld::default_times();
  times.total = times.rung = 60 * kSecond;
  const auto index = world.start("switch", kSmTcp, times);
  world.run_until([] { return false; }, 50 * kSecond);
  CHECK(world.coordinator_count() == 1);
  world.calm();
  CHECK(world.finish(index).code == ExitCode::kDone);
}

TEST_CASE("a command that retracted and was then finished by another tells how many pairs moved") {
  CoordinatorMachine machine(switch_command(), 0);
  Standing member;
  member.member = {ProcessId{1}, Incarnation{1}};
  member.transports = {{"sm", ""}, {"tcp", ""}};
  TimeNs now = 0;
  const auto tell = [&](const Term& term) {
    ++member.version;
    member.term = term;
    return machine.step(member, now);
  };
  machine.step(Tick{}, now);
  machine.step(MembersFound{1, {member.member}}, now);
  tell({});
  tell({1, 1});
  member.operation = operation_in(machine.step(MembersFound{2, {member.member}}, now));
  REQUIRE(member.operation.id == 7);
  now += kSecond * 15;
  machine.step(Tick{}, now);  // the rung's time is over: the machine goes back
  REQUIRE_FALSE(machine.done());
  member.rung = Rung::kNew;
  member.seq = 9;
  member.report.operation = member.operation.id;
  member.report.pairs_moved = 2;
  tell({2, 2});
  REQUIRE(machine.done());
  CHECK(machine.outcome().code == ExitCode::kDone);
  CHECK(machine.outcome().pairs_moved == 1);
  CHECK(machine.outcome().rung == Rung::kNew);
}

TEST_CASE("a member that rests but has not answered an order keeps the ladder open") {
  LadderWorld world(2, 23);
  const std::size_t first = world.start("switch", kSmTcp);
  world.run_until([&] { return world.member(1).machine.standing(world.now()).term.number == 1; });
  world.freeze(1, true);  // it has promised and stands at rest, and orders are on their way to it
  CHECK(world.finish(first).code == ExitCode::kRetracted);
  world.run_until([&] { return world.coordinator(first).machine.done(); });
  REQUIRE(at_rung(world, 0, Rung::kOld));
  CHECK(world.member(0).machine.standing(world.now()).left_open);
  CHECK(world.member(0).machine.abandoned_since().has_value());
  world.freeze(1, false);
  world.calm();
  CHECK(world.finish(world.start("resume")).code == ExitCode::kDone);
  CHECK(world.all_rest());
  CHECK_FALSE(world.member(0).machine.standing(world.now()).left_open);
}
