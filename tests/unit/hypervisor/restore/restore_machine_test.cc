// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/restore/restore_machine_test.cc -- the order of a restore, with each step
// failing in turn, and calls killed in each phase. No sockets, no time.
#include "tests/unit/hypervisor/set/set_world.h"

using namespace livebtl::hypervisor;

namespace {

const StepNames kWhole = {"look",     "load0",  "load1",  "go_on0", "go_on1",
                          "restored", "plug0a", "plug1b", "return"};

/// Two QEMUs that wait for what was saved during the hold.
SetWorld waiting() {
  SetWorld world;
  for (auto& one : world.machines) one = {false, false, false, false};
  world.held = true;
  return world;
}

}  // namespace

TEST_CASE("a restore in order") {
  SetWorld world = waiting();
  world.run<RestoreMachine>();
  CHECK(world.steps == kWhole);
  CHECK(world.end.code == kCodeDone);
  world.run<RestoreMachine>();  // again: the job says that it is already so
  CHECK(world.steps == StepNames{"look", "restored", "return"});
  CHECK(world.end.code == kCodeDone);
  SetWorld bare = waiting();
  bare.cards = false;
  bare.run<RestoreMachine>();
  CHECK(bare.steps == up_to(kWhole, "restored"));
}

TEST_CASE("what cannot be looked at or loaded: no machine runs") {
  SetWorld unseen = waiting();
  unseen.fails("look", Outcome::kFailed, 3);
  unseen.run<RestoreMachine>();
  CHECK(unseen.steps == StepNames{"look"});
  CHECK(unseen.end.code == 3);
  SetWorld world = waiting();
  world.fails("load1", Outcome::kFailed, 2);
  world.run<RestoreMachine>();
  CHECK(world.steps == up_to(kWhole, "load1"));
  CHECK(world.end.code == kCodeUnfinished);
  CHECK_FALSE(world.machines[0].running);
}

TEST_CASE("a set that does not fit together is never continued") {
  for (const int code : {8, 5, 10, 2}) {
    SetWorld world = waiting();
    world.fails("restored", Outcome::kFailed, code);
    world.run<RestoreMachine>();
    CHECK(world.steps == followed_by(up_to(kWhole, "restored"), {"halt0", "halt1"}));
    CHECK(world.end.code == code);
    CHECK(world.end.text.find("no machine runs") != std::string::npos);
    CHECK_FALSE(world.machines[0].running);
    CHECK_FALSE(world.machines[1].running);
    world.change = [](const std::string&, Answer&) {};
    world.run<RestoreMachine>();
    CHECK(world.steps ==
          followed_by({"look", "go_on0", "go_on1"}, {"restored", "plug0a", "plug1b", "return"}));
    CHECK(world.end.code == kCodeDone);
  }
  SetWorld world = waiting();
  world.fails("go_on1", Outcome::kTimeout, 5);
  world.run<RestoreMachine>();
  CHECK(world.steps == followed_by(up_to(kWhole, "go_on1"), {"halt0", "halt1"}));
  CHECK(world.end.code == kCodeUnfinished);
}

TEST_CASE("a job of which the guest says that not all of it goes on is not called restored") {
  SetWorld world = waiting();
  world.fails("restored", Outcome::kFailed, kCodeNotReturned);
  world.run<RestoreMachine>();
  CHECK(world.end.code == kCodeUnfinished);
  CHECK_FALSE(world.machines[0].running);
  CHECK_FALSE(world.machines[1].running);
}

TEST_CASE("a machine that cannot be stopped again is named") {
  SetWorld world = waiting();
  world.change = [](const std::string& now, Answer& answer) {
    if (now == "restored" || now == "halt0") answer = {Outcome::kFailed, 8, "because"};
  };
  world.run<RestoreMachine>();
  CHECK(world.steps.back() == "halt1");
  CHECK(world.end.code == 8);
  CHECK(world.end.left == StepNames{"halt vm1: because"});
}

TEST_CASE("machines that ran before are left running, whatever is said of them") {
  for (const int code : {5, 8}) {
    SetWorld world = waiting();
    world.run<RestoreMachine>();
    world.fails("restored", Outcome::kTimeout, code);
    world.run<RestoreMachine>();
    CHECK(world.end.code == code);
    CHECK(world.steps == StepNames{"look", "restored"});
    CHECK(world.machines[0].running);
    CHECK((world.end.text.find("not of this set") != std::string::npos) == (code == 8));
  }
}

TEST_CASE("of machines of which some ran before only the others are stopped") {
  SetWorld world = waiting();
  world.killed_after = "go_on0";
  world.run<RestoreMachine>();
  world.killed_after.clear();
  world.fails("restored", Outcome::kFailed, kCodeInconsistent);
  world.run<RestoreMachine>();
  CHECK(world.steps == StepNames{"look", "go_on1", "restored", "halt1"});
  CHECK(world.end.code == kCodeInconsistent);
  CHECK(world.machines[0].running);
  REQUIRE(world.end.left.size() == 1);
  CHECK(world.end.left[0].find("vm1 ran before") == 0);
}

TEST_CASE("what fails when the job goes on is said") {
  for (const char* step : {"plug0a", "plug1b", "return"}) {
    SetWorld world = waiting();
    world.fails(step, Outcome::kFailed, 5);
    world.run<RestoreMachine>();
    CHECK(world.steps == kWhole);
    CHECK(world.end.code == kCodeNotReturned);
    CHECK(world.end.left.size() == 1);
  }
}

TEST_CASE("Ctrl-C is heard until the first machine goes on") {
  for (const std::string& step : kWhole) {
    CAPTURE(step);
    SetWorld world = waiting();
    world.interrupt_before = step;
    world.run<RestoreMachine>();
    const bool heard = step == "look" || step == "load0" || step == "load1";
    CHECK(world.end.code == (heard ? kCodeInterrupted : kCodeDone));
    CHECK(world.machines[1].running == !heard);
  }
}

TEST_CASE("a call that was killed in any phase is resolved by the next") {
  for (const std::string& step : kWhole) {
    CAPTURE(step);
    SetWorld world = waiting();
    world.killed_after = step;
    world.run<RestoreMachine>();
    world.killed_after.clear();
    world.run<RestoreMachine>();
    CHECK(world.end.code == kCodeDone);
    CHECK(world.machines[0].running);
    CHECK(world.machines[1].plugged);
    CHECK_FALSE(world.held);
  }
}
