// SPDX-License-Identifier: BSD-3-Clause
// ladder_test.cc -- commands from start to end over the simulated job: exit codes and what they
// mean.
#include <doctest/doctest.h>

#include "tests/unit/control/ladder/switches.h"

using namespace livebtl;
using namespace livebtl::control;

namespace {

std::vector<Rung> rungs_of(const Outcome& outcome) {
  std::vector<Rung> rungs;
  for (const auto& one : outcome.rungs) rungs.push_back(one.rung);
  return rungs;
}

}  // namespace

TEST_CASE("a switch climbs all rungs and ends with exit code 0") {
  LadderWorld world(4, 1, {0, 0, kMillisecond, true});
  const Outcome outcome = world.finish(world.start("switch", kSmTcp));
  CHECK(outcome.code == ExitCode::kDone);
  CHECK(rungs_of(outcome) == std::vector<Rung>{Rung::kJoint, Rung::kNewTx, Rung::kNew});
  CHECK(outcome.pairs_moved == 2);
  CHECK(outcome.members == 4);
  CHECK_FALSE(outcome.already);
  CHECK(world.routing().moved.at("sm") == "tcp");
  CHECK(world.frames_delivered() > 0);
}

TEST_CASE("a switch to where one already is succeeds without a ladder") {
  LadderWorld world(2, 2);
  world.finish(world.start("switch", kSmTcp));
  const Outcome outcome = world.finish(world.start("switch", kSmTcp));
  CHECK(outcome.code == ExitCode::kDone);
  CHECK(outcome.already);
  CHECK(outcome.rungs.empty());
}

TEST_CASE("one command after the other is never busy") {
  LadderWorld world(3, 3);
  for (int i = 0; i < 20; ++i) {
    const Outcome outcome = world.finish(world.start("switch", i % 2 == 0 ? kSmTcp : kTcpSm));
    REQUIRE(outcome.code == ExitCode::kDone);
    REQUIRE_FALSE(outcome.already);
  }
  CHECK(world.routing().moved.at("tcp") == "sm");
}

TEST_CASE("remove answers released, add brings it back, and both are idempotent") {
  LadderWorld world(2, 4);
  CHECK(world.finish(world.start("remove", {"vader"})).released);
  CHECK(world.routing().excluded.count("sm") == 1);
  const Outcome again = world.finish(world.start("remove", {"sm"}));
  CHECK(again.already);
  CHECK(again.released);
  CHECK_FALSE(world.finish(world.start("add", {"sm"})).released);
  CHECK(world.routing().excluded.empty());
  CHECK(world.finish(world.start("set", {"tcp", "weight=3"})).code == ExitCode::kDone);
  CHECK(world.finish(world.start("quiesce", {"tcp"})).code == ExitCode::kDone);
}

TEST_CASE("a foreign holder of a removed transport makes exit code 7 and is named") {
  LadderWorld world(2, 5);
  world.member(1).engine.other_holders = {"sm: pid 7 (ucx): fd 9", "tcp: not what was asked for"};
  const Outcome outcome = world.finish(world.start("remove", {"sm"}));
  CHECK(outcome.code == ExitCode::kForeign);
  CHECK(outcome.other_holders == std::vector<std::string>{"rank 1: sm: pid 7 (ucx): fd 9"});
}

TEST_CASE("unknown transports and malformed commands change nothing") {
  LadderWorld world(2, 6);
  CHECK(world.finish(world.start("switch", {"sm", "ofi"})).code == ExitCode::kNotFound);
  CHECK(world.finish(world.start("switch", {"sm"})).code == ExitCode::kUsage);
  CHECK(world.finish(world.start("resume", {"sm"})).code == ExitCode::kUsage);
  CHECK(world.member(0).machine.standing(world.now()).term == Term{});
}

TEST_CASE("a dry run tells and changes nothing") {
  LadderWorld world(2, 7);
  const auto times = LadderWorld::default_times();
  const Outcome outcome = world.finish(world.start("switch", kSmTcp, times, true));
  CHECK(outcome.code == ExitCode::kDone);
  CHECK(outcome.plans.size() == 2);
  CHECK(world.member(0).machine.standing(world.now()).term == Term{});
  world.finish(world.start("remove", {"tcp"}));
  CHECK(world.finish(world.start("remove", {"sm"}, times, true)).code == ExitCode::kRefused);
}

TEST_CASE("a member that cannot open the transport makes all go back, with its reason") {
  LadderWorld world(3, 8, {0, 0, kMillisecond, true});
  world.member(2).engine.refuse_joint = true;
  const Outcome outcome = world.finish(world.start("switch", kSmTcp));
  CHECK(outcome.code == ExitCode::kRefused);
  CHECK(outcome.text.find("rank 2 refused: cannot open") != std::string::npos);
  CHECK(outcome.pairs == std::vector<std::string>{"rank 9"});
  CHECK(outcome.stragglers.empty());
  CHECK(world.routing() == Routing{});
  CHECK(world.all_rest());
  world.member(2).engine.refuse_joint = false;
  CHECK(world.finish(world.start("switch", kSmTcp)).code == ExitCode::kDone);
}

TEST_CASE(
    "a frozen member before the commit point: time-out, retracted, named; resume then completes") {
  LadderWorld world(3, 9, {0, 0, kMillisecond, true});
  const std::size_t first = world.start("switch", kSmTcp);
  world.run_until([&] { return at_rung(world, 2, Rung::kJoint); });
  world.freeze(2, true);
  const Outcome outcome = world.finish(first);
  CHECK(outcome.code == ExitCode::kRetracted);
  REQUIRE(outcome.stragglers.size() == 1);
  CHECK(outcome.stragglers[0].name == "rank 2");
  CHECK_FALSE(at_rung(world, 0, Rung::kNew));
  world.freeze(2, false);
  CHECK(world.finish(world.start("resume")).code == ExitCode::kDone);
  CHECK(world.all_rest());
  CHECK(world.routing() == Routing{});
  CHECK(world.finish(world.start("switch", kSmTcp)).code == ExitCode::kDone);
}

TEST_CASE("a member that never answered an order is said to be silent") {
  LadderWorld world(3, 9, {0, 0, kMillisecond, true});
  const std::size_t first = world.start("switch", kSmTcp);
  world.run_until([&] {
    return at_rung(world, 2, Rung::kJoint) && world.member(2).machine.standing(world.now()).reached;
  });
  world.freeze(2, true);
  const Outcome outcome = world.finish(first);
  CHECK(outcome.code == ExitCode::kRetracted);
  REQUIRE(outcome.stragglers.size() == 1);
  CHECK(outcome.stragglers[0].name == "rank 2");
  CHECK_FALSE(outcome.stragglers[0].answered);
}

TEST_CASE(
    "a frozen member after the commit point: not released, nothing goes down; resume completes") {
  LadderWorld world(3, 10);
  const std::size_t first = world.start("switch", kSmTcp);
  world.run_until([&] { return at_rung(world, 0, Rung::kNew); });
  world.freeze(2, true);
  const bool was_new = at_rung(world, 2, Rung::kNew);
  const Outcome outcome = world.finish(first);
  if (!was_new) {
    CHECK(outcome.code == ExitCode::kNotReleased);
    REQUIRE(outcome.stragglers.size() == 1);
    CHECK(outcome.stragglers[0].rank == 2);
    CHECK(world.finish(world.start("switch", kTcpSm)).code == ExitCode::kRetracted);
  }
  CHECK(at_rung(world, 0, Rung::kNew));
  world.freeze(2, false);
  world.finish(world.start("resume"));
  CHECK(world.all_rest());
  CHECK(world.routing().moved.at("sm") == "tcp");
  for (std::size_t i = 0; i < 3; ++i) CHECK(world.member(i).engine.rungs_down == 0);
}

TEST_CASE("a second command during a ladder is busy at once, and the first one goes on") {
  LadderWorld world(3, 14);
  world.member(1).engine.stall = true;
  const std::size_t first = world.start("switch", kSmTcp);
  world.run_until([&] { return at_rung(world, 1, Rung::kJoint); });
  const TimeNs asked = world.now();
  CHECK(world.finish(world.start("remove", {"sm"})).code == ExitCode::kBusy);
  CHECK(world.now() - asked < 100 * kMillisecond);
  world.calm();
  CHECK(world.finish(first).code == ExitCode::kDone);
}

TEST_CASE("of two commands at once exactly one is carried out") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    LadderWorld world(3, 100 + seed, {0, 0, kMillisecond, true});
    const std::size_t one = world.start("switch", kSmTcp);
    const std::size_t two = world.start("remove", {"tcp"});
    int done = 0, busy = 0;
    for (const std::size_t index : {one, two}) {
      const ExitCode code = world.finish(index).code;
      done += code == ExitCode::kDone ? 1 : 0;
      busy += code == ExitCode::kBusy ? 1 : 0;
    }
    CHECK(done == 1);
    CHECK(busy == 1);
    CHECK(world.all_rest());
    world.routing();
  }
}

TEST_CASE("members that the launcher announced but cannot be found are named by rank") {
  LadderWorld world(3, 16);
  world.member(1).machine = MemberMachine(LadderWorld::facts_of(1, 5));
  world.member(1).machine.step(JoinAsFirst{}, 0);
  const Outcome outcome = world.finish(world.start("switch", kSmTcp));
  CHECK(outcome.code == ExitCode::kMembersMissing);
  CHECK(outcome.missing_ranks == std::vector<int>{3, 4});
}

TEST_CASE("a member that is still starting is waited for") {
  LadderWorld world(2, 17);
  world.member(1).machine = MemberMachine(LadderWorld::facts_of(1, 2));
  const std::size_t command = world.start("switch", kSmTcp);
  world.run_until([&] { return world.now() > 2 * kSecond; });
  CHECK_FALSE(world.coordinator(command).machine.done());
  world.member(1).machine.step(JoinAsFirst{}, world.now());
  CHECK(world.finish(command).code == ExitCode::kDone);
}

TEST_CASE("a member that joins in mid-ladder climbs with the others") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    LadderWorld world(2, 200 + seed, {0, 0, kMillisecond, true});
    world.member(1).engine.stall = true;
    const std::size_t command = world.start("switch", kSmTcp);
    world.run_until([&] { return at_rung(world, 1, Rung::kJoint); });
    const std::size_t joined = world.join_member();
    world.run_until([] { return false; }, 20 * kMillisecond);
    world.calm();
    REQUIRE(world.finish(command).code == ExitCode::kDone);
    world.run_until([&] { return world.member(joined).machine.joined() && world.all_rest(); });
    CHECK(world.routing().moved.at("sm") == "tcp");
  }
}

TEST_CASE("a member that joins while a command ends does not keep the next one waiting") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    LadderWorld world(3, 500 + seed, {0, 0, kMillisecond, true});
    const std::size_t command = world.start("switch", kSmTcp);
    const TimeNs joins_at = static_cast<TimeNs>(seed) * kMillisecond / 20;
    world.run_until([&] { return world.now() >= joins_at; });
    world.join_member();
    REQUIRE(world.finish(command).code == ExitCode::kDone);
    CAPTURE(seed);
    CHECK(world.finish(world.start("switch", kTcpSm)).code == ExitCode::kDone);
  }
}

TEST_CASE("a member that dies in mid-ladder is left behind on proof") {
  LadderWorld world(3, 18);
  world.member(1).engine.stall = true;
  const std::size_t command = world.start("switch", kSmTcp);
  world.run_until([&] { return at_rung(world, 1, Rung::kJoint); });
  world.crash_member(1);
  const Outcome outcome = world.finish(command);
  CHECK(outcome.code == ExitCode::kDone);
  CHECK(outcome.members == 2);
}

TEST_CASE("when the new path breaks after NEWTX the ladder goes back, with acknowledgements") {
  LadderWorld world(3, 19, {0, 0, kMillisecond, true});
  const std::size_t command = world.start("switch", kSmTcp);
  world.run_until([&] { return at_rung(world, 2, Rung::kNewTx); });
  world.member(2).engine.losses_left = 1'000'000;
  const Outcome outcome = world.finish(command);
  CHECK(outcome.code == ExitCode::kRetracted);
  CHECK(world.all_rest());
  CHECK(world.routing() == Routing{});
}

TEST_CASE("a coordinator's clock that jumps retracts cleanly") {
  LadderWorld world(2, 20);
  world.member(1).engine.stall = true;
  const std::size_t command = world.start("switch", kSmTcp);
  world.run_until([&] { return at_rung(world, 1, Rung::kJoint); });
  world.member(1).engine.stall = false;
  world.jump_clock(command, 3600 * kSecond);
  CHECK(world.finish(command).code == ExitCode::kRetracted);
  CHECK(world.all_rest());
}
