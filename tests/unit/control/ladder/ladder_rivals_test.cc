// SPDX-License-Identifier: BSD-3-Clause
// ladder_rivals_test.cc -- commands that are killed, taken over, or that find another one's work.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/unit/control/ladder/switches.h"

using namespace livebtl;
using namespace livebtl::control;

namespace {

/// A switch that another coordinator took over at JOINT and finished; the first one still lives.
std::size_t taken_over_and_finished(LadderWorld& world) {
  world.member(1).engine.stall = true;
  const std::size_t first = world.start("switch", kSmTcp);
  world.run_until([&] { return at_rung(world, 1, Rung::kJoint); });
  const std::size_t second = world.start("resume");
  world.run_until([&] { return !world.coordinator(second).progress.empty(); });
  world.calm();
  CHECK(world.finish(second).code == ExitCode::kDone);
  return first;
}

bool has_order(const std::vector<CoordinatorAction>& actions) {
  return std::any_of(actions.begin(), actions.end(), [](const auto& action) {
    const auto* one = std::get_if<Send>(&action);
    return one != nullptr && std::holds_alternative<Order>(one->request);
  });
}

}  // namespace

TEST_CASE("a coordinator killed at each rung: resume finishes, abort takes back or explains") {
  for (const Rung rung : {Rung::kJoint, Rung::kNewTx, Rung::kNew}) {
    for (const std::string verb : {"resume", "abort"}) {
      CAPTURE(verb);
      CAPTURE(rung_name(rung));
      LadderWorld world(3, 11);
      world.member(1).engine.stall = rung == Rung::kJoint;
      const std::size_t first = world.start("switch", kSmTcp);
      world.run_until([&] { return at_rung(world, 1, rung); });
      world.kill_coordinator(first);
      world.calm();
      const Outcome outcome = world.finish(world.start(verb));
      CHECK(world.all_rest());
      const bool committed = rung == Rung::kNew;
      if (verb == "resume") {
        CHECK(outcome.code == ExitCode::kDone);
        CHECK(world.routing().moved.at("sm") == "tcp");
      } else if (!committed) {
        CHECK(outcome.code == ExitCode::kDone);
        CHECK(world.routing() == Routing{});
      }
    }
  }
}

TEST_CASE("abort past the commit point explains, and does nothing") {
  LadderWorld world(2, 12);
  const std::size_t first = world.start("switch", kSmTcp);
  world.run_until([&] { return at_rung(world, 0, Rung::kNew); });
  world.member(0).engine.stall = true;
  world.kill_coordinator(first);
  const Outcome outcome = world.finish(world.start("abort"));
  CHECK(outcome.code == ExitCode::kNotReleased);
  CHECK(outcome.text.find("roles swapped") != std::string::npos);
  CHECK(at_rung(world, 0, Rung::kNew));
  // Members that have not released yet are named; none is silent: all gave their promise.
  CHECK_FALSE(outcome.stragglers.empty());
  for (const auto& straggler : outcome.stragglers) CHECK(straggler.answered);
  world.member(0).engine.stall = false;
  CHECK(world.finish(world.start("resume")).code == ExitCode::kDone);
  CHECK(world.all_rest());
  CHECK(world.routing().moved.at("sm") == "tcp");
}

TEST_CASE("abort fences out the orders that a killed coordinator still has on their way") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    LadderWorld world(1, 700 + seed, {0, 0, 20 * kMillisecond, false});
    const std::size_t first = world.start("switch", kSmTcp);
    world.run_until([&] { return !world.coordinator(first).progress.empty(); });
    world.kill_coordinator(first);
    CAPTURE(seed);
    REQUIRE(world.finish(world.start("abort")).code == ExitCode::kDone);
    world.run_until([] { return false; }, 50 * kMillisecond);
    CHECK(world.all_rest());
    CHECK(world.finish(world.start("switch", kTcpSm)).code == ExitCode::kDone);
  }
}

TEST_CASE("what was left unfinished is not run over: busy, with the way out") {
  LadderWorld world(2, 13);
  world.member(1).engine.stall = true;
  const std::size_t first = world.start("switch", kSmTcp);
  world.run_until([&] { return at_rung(world, 1, Rung::kJoint); });
  world.kill_coordinator(first);
  world.run_until([] { return false; }, 5 * kSecond);
  const Outcome outcome = world.finish(world.start("remove", {"sm"}));
  CHECK(outcome.code == ExitCode::kBusy);
  CHECK(outcome.text.find("resume") != std::string::npos);
}

TEST_CASE("abort takes over from a living coordinator, which then says so") {
  LadderWorld world(3, 15);
  world.member(1).engine.stall = true;
  const std::size_t first = world.start("switch", kSmTcp);
  world.run_until([&] { return at_rung(world, 1, Rung::kJoint); });
  const std::size_t second = world.start("abort");
  world.run_until([&] { return !world.coordinator(second).progress.empty(); });
  world.calm();
  CHECK(world.finish(second).code == ExitCode::kDone);
  const Outcome outcome = world.finish(first);
  CHECK(outcome.code == ExitCode::kRetracted);
  CHECK(outcome.text.find("taken back by another") != std::string::npos);
  CHECK(world.routing() == Routing{});
}

TEST_CASE("a command that somebody else has finished is done") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    LadderWorld world(3, 700 + seed, {0, 0, kMillisecond, true});
    const std::size_t first = taken_over_and_finished(world);
    const Outcome outcome = world.finish(first);
    CHECK(outcome.code == ExitCode::kDone);
    CHECK(outcome.text.find("switch sm tcp: done") != std::string::npos);
    CHECK(world.routing().moved.at("sm") == "tcp");
  }
}

TEST_CASE(
    "what came after a command that was taken over does not make it one that was taken back") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    LadderWorld world(3, 750 + seed, {0, 0, kMillisecond, true});
    const std::size_t first = taken_over_and_finished(world);
    CHECK(world.finish(world.start("remove", {"sm"})).code == ExitCode::kDone);
    const ExitCode code = world.finish(first).code;
    const bool true_word = code == ExitCode::kDone || code == ExitCode::kBusy;
    CHECK(true_word);
  }
}

TEST_CASE("abort that is outbid says whether there is anything left to take back") {
  for (const Rung rung : {Rung::kJoint, Rung::kNewTx}) {
    CAPTURE(rung_name(rung));
    LadderWorld world(3, 22);
    world.member(1).engine.stall = true;
    const std::size_t first = world.start("switch", kSmTcp);
    world.run_until([&] { return at_rung(world, 1, Rung::kJoint); });
    if (rung == Rung::kNewTx) {
      world.member(1).engine.stall = false;
      world.run_until([&] { return at_rung(world, 1, rung); });
      world.member(1).engine.stall = true;
    }
    world.kill_coordinator(first);
    const std::size_t abort = world.start("abort");
    world.run_until([&] { return !world.coordinator(abort).progress.empty(); });
    const std::size_t resume = world.start("resume");
    world.run_until([&] { return !world.coordinator(resume).progress.empty(); });
    world.member(1).engine.stall = false;
    world.calm();
    CHECK(world.finish(resume).code == ExitCode::kDone);
    const bool back = world.routing() == Routing{};
    // resume completes a begun retraction; from newtx, it depends on whose order came first.
    if (rung == Rung::kJoint) CHECK(back);
    CHECK(world.finish(abort).code == (back ? ExitCode::kDone : ExitCode::kNotReleased));
  }
}

TEST_CASE("whoever follows waits for a newcomer that has not answered yet") {
  CoordinatorMachine machine(switch_command(), 0);
  Standing old_one;
  old_one.member = {ProcessId{1}, Incarnation{1}};
  old_one.transports = {{"sm", ""}, {"tcp", ""}};
  const auto tell = [&](std::uint64_t term_number) {
    ++old_one.version;
    old_one.term = {term_number, term_number == 1 ? 1U : 3U};
    return machine.step(old_one, 0);
  };
  machine.step(Tick{}, 0);
  machine.step(MembersFound{1, {old_one.member}}, 0);
  old_one.version = 1;
  machine.step(old_one, 0);
  tell(1);
  REQUIRE(has_order(machine.step(MembersFound{2, {old_one.member}}, 0)));
  Standing newcomer = old_one;
  newcomer.member.process = ProcessId{2};
  machine.step(MembersFound{3, {old_one.member, newcomer.member}}, 0);
  tell(2);
  CHECK_FALSE(machine.done());
  newcomer.term = old_one.term;
  newcomer.version = 1;
  machine.step(newcomer, 0);
  REQUIRE(machine.done());
  CHECK(machine.outcome().code == ExitCode::kRetracted);
  CHECK(machine.outcome().text.find("nothing was changed") != std::string::npos);
}

TEST_CASE("a command that was taken over and left lying ends as busy, at its time-out") {
  LadderWorld world(2, 19);
  world.member(1).engine.stall = true;
  const std::size_t first = world.start("switch", kSmTcp);
  world.run_until([&] { return at_rung(world, 1, Rung::kJoint); });
  const std::size_t second = world.start("resume");
  world.run_until([&] { return !world.coordinator(second).progress.empty(); });
  world.kill_coordinator(second);
  const Outcome outcome = world.finish(first);
  CHECK(outcome.code == ExitCode::kBusy);
  CHECK(outcome.text.find("taken over") != std::string::npos);
}

TEST_CASE("a newcomer that a failed ladder leaves on a rung keeps it open for whoever comes next") {
  LadderWorld world(3, 21);
  const std::size_t first = world.start("switch", kSmTcp);
  world.run_until([&] { return world.member(2).machine.standing(world.now()).term.number == 1; });
  world.freeze(2, true);  // it has promised, but gets no order
  world.run_until([&] { return at_rung(world, 0, Rung::kJoint); });
  const std::size_t joined = world.join_member();
  world.run_until([&] { return world.member(joined).machine.joined(); });
  CHECK(world.finish(first).code == ExitCode::kRetracted);
  world.run_until([&] { return world.coordinator(first).machine.done(); });
  REQUIRE(at_rung(world, joined, Rung::kJoint));
  CHECK(world.member(0).machine.standing(world.now()).left_open);
  world.freeze(2, false);
  world.calm();
  CHECK(world.finish(world.start("resume")).code == ExitCode::kDone);
  CHECK(world.all_rest());
}
