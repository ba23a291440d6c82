// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/snapshot/snapshot_hold_test.cc -- a hold that breaks while machines are
// saved: which step notices it, and that it is reported. No sockets, no time.
#include "tests/unit/hypervisor/set/set_world.h"

using namespace livebtl::hypervisor;

TEST_CASE("a hold that was broken is named, whichever step has failed first") {
  for (const std::string step : {"save0", "go_on0", "renew", "save1", "go_on1", "check"}) {
    for (const int found : {kCodeInconsistent, kCodeTakenBack, kCodeDone}) {
      CAPTURE(step);
      CAPTURE(found);
      SetWorld world;
      bool failed = false;
      world.change = [&](const std::string& now, Answer& answer) {
        if (now == "check" && failed && found != kCodeDone)
          answer = {Outcome::kFailed, found, "its lease ran out"};
        if (now == step && !std::exchange(failed, true))
          answer = {Outcome::kTimeout, kCodeTakenBack, "no answer"};
      };
      world.run<SnapshotMachine>();
      const bool broken = found == kCodeInconsistent;
      CHECK(world.end.code == (broken ? kCodeInconsistent : kCodeTakenBack));
      CHECK((world.end.text.find("the hold was broken: its lease ran out") == 0) == broken);
      CHECK(world.end.text.find("no answer; taken back: no snapshot is left") != std::string::npos);
      CHECK(world.end.left.empty());
      CHECK(std::count(world.steps.begin(), world.steps.end(), "end_hold") == 1);
      CHECK_FALSE(world.files);
      world.is_as_before();
    }
  }
}

TEST_CASE("what is known is not asked for again: no hold yet, the guest's own reason, Ctrl-C") {
  for (const char* step : {"unplug1b", "hold"}) {
    SetWorld world;
    world.fails(step, Outcome::kTimeout, kCodeTakenBack);
    world.run<SnapshotMachine>();
    CHECK(std::count(world.steps.begin(), world.steps.end(), "check") == 0);
  }
  SetWorld broken;
  broken.fails("renew", Outcome::kFailed, kCodeInconsistent);
  broken.run<SnapshotMachine>();
  CHECK(std::count(broken.steps.begin(), broken.steps.end(), "check") == 0);
  SetWorld interrupted;
  interrupted.interrupt_before = "save1";
  interrupted.run<SnapshotMachine>();
  CHECK(std::count(interrupted.steps.begin(), interrupted.steps.end(), "check") == 0);
  CHECK(interrupted.end.code == kCodeInterrupted);
}
