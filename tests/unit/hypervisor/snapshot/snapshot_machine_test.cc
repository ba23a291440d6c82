// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/snapshot/snapshot_machine_test.cc -- the order of a snapshot, with each
// step failing in turn, and calls killed in each phase. No sockets, no time.
#include "tests/unit/hypervisor/set/set_world.h"

using namespace livebtl::hypervisor;

namespace {

const StepNames kWholeSnapshot = followed_by(followed_by(kSnapshot, {"end_hold", "seal"}), kCards);

}  // namespace

TEST_CASE("a snapshot in order") {
  SetWorld world;
  world.run<SnapshotMachine>();
  CHECK(world.steps == kWholeSnapshot);
  CHECK(world.end.code == kCodeDone);
  CHECK(world.sealed);
  world.is_as_before();
  world.run<SnapshotMachine>();  // again: that is not a call repeated, but a new one
  CHECK(world.steps == StepNames{"look"});
  CHECK(world.end.code == kCodeRefused);
  CHECK(world.end.text.find("monday holds a set; name another") == 0);
}

TEST_CASE("machines without cards have nothing to leave") {
  SetWorld world;
  world.cards = false;
  world.run<SnapshotMachine>();
  CHECK(world.steps == StepNames{"look", "claim", "hold", "save0", "go_on0", "renew", "save1",
                                 "go_on1", "check", "end_hold", "seal", "forget"});
  CHECK(world.end.code == kCodeDone);
}

TEST_CASE("a machine that cannot be looked at, or stands still, is left alone") {
  SetWorld unseen;
  unseen.fails("look", Outcome::kFailed, 9);
  unseen.run<SnapshotMachine>();
  CHECK(unseen.steps == StepNames{"look"});
  CHECK(unseen.end.code == 9);
  SetWorld still;
  still.machines[1].running = false;
  still.run<SnapshotMachine>();
  CHECK(still.steps == StepNames{"look"});
  CHECK(still.end.code == kCodeRefused);
  CHECK(still.end.text.find("vm2") == 0);
  SetWorld moved;
  moved.machines[1].running = false;
  moved.machines[1].sent = true;
  moved.run<SnapshotMachine>();
  CHECK(moved.steps == StepNames{"look"});
  CHECK(moved.end.code == kCodeRefused);
  CHECK(moved.end.text.find("must not go on here") != std::string::npos);
}

TEST_CASE("whatever fails before the check leaves no set, and all as it was") {
  const std::vector<std::pair<std::string, int>> codes = {
      {"claim", 5},  {"prepare", 7}, {"unplug0a", 5}, {"unplug1b", 5}, {"hold", 4}, {"save0", 5},
      {"go_on0", 5}, {"renew", 8},   {"save1", 5},    {"go_on1", 5},   {"check", 8}};
  for (const Outcome outcome : {Outcome::kFailed, Outcome::kTimeout}) {
    for (const auto& each : codes) {
      const std::string& step = each.first;
      const int code = each.second;
      CAPTURE(step);
      SetWorld world;
      bool once = false;
      world.change = [&](const std::string& now, Answer& answer) {
        if (now == step && !std::exchange(once, true)) answer = {outcome, code, "because"};
      };
      world.run<SnapshotMachine>();
      CHECK(world.end.code == code);
      CHECK(world.end.text.find("because") != std::string::npos);
      CHECK(world.end.left.empty());
      CHECK_FALSE(world.sealed);
      CHECK_FALSE(world.files);
      world.is_as_before();
    }
  }
}

TEST_CASE("what a guest calls done, but not complete, is not done where it is taken back") {
  for (const char* step : {"prepare", "hold", "renew", "check"}) {
    CAPTURE(step);
    SetWorld world;
    world.fails(step, Outcome::kFailed, kCodeNotReturned);
    world.run<SnapshotMachine>();
    CHECK(world.end.code == kCodeTakenBack);
    CHECK_FALSE(world.sealed);
  }
}

TEST_CASE("a hold that was broken makes no set") {
  SetWorld world;
  world.fails("check", Outcome::kFailed, kCodeInconsistent);
  world.run<SnapshotMachine>();
  CHECK(world.steps == followed_by(followed_by(kSnapshot, {"end_hold", "discard"}), kCards));
  CHECK(world.end.code == kCodeInconsistent);
}

TEST_CASE("what cannot be written to the disk is no set") {
  SetWorld world;
  world.fails("seal", Outcome::kFailed, 2);
  world.run<SnapshotMachine>();
  CHECK(world.steps ==
        followed_by(followed_by(kSnapshot, {"end_hold", "seal", "discard"}), kCards));
  CHECK(world.end.code == kCodeTakenBack);
  CHECK_FALSE(world.files);
  world.is_as_before();
}

TEST_CASE("what is left after a set was made is said, and so is what cannot be taken back") {
  for (const char* step : {"plug0a", "plug1b", "return", "forget"}) {
    CAPTURE(step);
    SetWorld made;
    made.fails(step, Outcome::kTimeout, 5);
    made.run<SnapshotMachine>();
    CHECK(made.steps == kWholeSnapshot);
    CHECK(made.sealed);
    CHECK(made.end.code == kCodeNotReturned);
    REQUIRE(made.end.left.size() == 1);
    CHECK(made.end.left[0].find("because") != std::string::npos);
    SetWorld not_made;
    not_made.change = [step](const std::string& now, Answer& answer) {
      if (now == step || now == "save1") answer = {Outcome::kFailed, 5, "because"};
    };
    not_made.run<SnapshotMachine>();
    CHECK(not_made.end.code == kCodeUnfinished);
    CHECK(not_made.end.left.size() == 1);
  }
}

TEST_CASE("Ctrl-C goes back from wherever it comes, until the set is good") {
  for (std::size_t i = 0; i < kSnapshot.size(); ++i) {
    SetWorld world;
    world.interrupt_before = kSnapshot[i];
    CAPTURE(kSnapshot[i]);
    world.run<SnapshotMachine>();
    CHECK(world.end.code == kCodeInterrupted);
    CHECK_FALSE(world.sealed);
    CHECK_FALSE(world.files);
    world.is_as_before();
  }
  for (const char* step : {"end_hold", "seal", "plug1b", "return", "forget"}) {
    SetWorld world;
    world.interrupt_before = step;
    world.run<SnapshotMachine>();
    CHECK(world.steps == kWholeSnapshot);
    CHECK(world.end.code == kCodeDone);
  }
}

TEST_CASE("Ctrl-C while a killed call is cleared up goes back, wherever it comes") {
  for (const char* killed : {"claim", "unplug0a", "hold", "save1", "check"}) {
    for (const char* step : {"go_on0", "go_on1", "end_hold", "claim", "prepare", "hold"}) {
      CAPTURE(killed);
      CAPTURE(step);
      SetWorld world;
      world.killed_after = killed;
      world.run<SnapshotMachine>();
      world.killed_after.clear();
      world.interrupt_before = step;
      world.run<SnapshotMachine>();
      CHECK(world.end.code == kCodeInterrupted);
      CHECK(world.end.text.find("nothing was changed") == std::string::npos);
      CHECK(world.end.left.empty());
      CHECK_FALSE(world.sealed);
      CHECK_FALSE(world.files);
      world.is_as_before();
    }
  }
}

TEST_CASE("a call that was killed in any phase is resolved by the next") {
  for (const bool before : {false, true}) {
    for (const std::string& step : kWholeSnapshot) {
      CAPTURE(step);
      CAPTURE(before);
      SetWorld world;
      (before ? world.killed_before : world.killed_after) = step;
      world.run<SnapshotMachine>();
      world.killed_before.clear();
      world.killed_after.clear();
      world.run<SnapshotMachine>();
      // After its last step, a call that was killed and one that has ended look the same.
      const bool ended = step == "forget" && !before;
      CHECK(world.end.code == (ended ? kCodeRefused : kCodeDone));
      CHECK(world.end.left.empty());
      CHECK(world.sealed);
      world.is_as_before();
    }
  }
}

TEST_CASE("a call that was killed is cleared up before the next begins") {
  SetWorld world;
  world.killed_after = "save1";
  world.run<SnapshotMachine>();
  world.killed_after.clear();
  world.run<SnapshotMachine>();
  CHECK(world.steps ==
        followed_by({"look", "go_on0", "go_on1", "end_hold", "claim", "prepare", "hold", "save0",
                     "go_on0", "renew", "save1", "go_on1", "check", "end_hold", "seal"},
                    kCards));
}

TEST_CASE("what a killed call has left and cannot be cleared is no ground to begin on") {
  SetWorld world;
  world.killed_after = "save0";
  world.run<SnapshotMachine>();
  world.killed_after.clear();
  world.change = [](const std::string& now, Answer& answer) {
    if (now == "end_hold") answer = {Outcome::kTimeout, 5, "no answer"};
  };
  world.held = false;  // its lease has expired meanwhile
  world.run<SnapshotMachine>();
  CHECK(world.end.code == kCodeUnfinished);
  CHECK_FALSE(world.sealed);
  CHECK(std::find(world.steps.begin(), world.steps.end(), "save0") == world.steps.end());
}

TEST_CASE("a set that was sealed before the kill is kept") {
  SetWorld world;
  world.killed_after = "seal";
  world.run<SnapshotMachine>();
  world.killed_after.clear();
  world.run<SnapshotMachine>();
  CHECK(world.steps == followed_by({"look", "go_on0", "go_on1", "end_hold"}, kCards));
  CHECK(world.end.code == kCodeDone);
}
