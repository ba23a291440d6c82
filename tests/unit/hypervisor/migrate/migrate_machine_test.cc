// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/migrate/migrate_machine_test.cc -- the order of a migration, with each step
// failing in turn. No sockets, no time.
#include "tests/unit/hypervisor/migrate/migrate_world.h"

using namespace livebtl::hypervisor;

TEST_CASE("a migration in order") {
  World world;
  world.run();
  CHECK(world.steps == after(kMigrated, {"arrive", "plug_there0", "plug_there1", "return_there"}));
  CHECK(world.end.code == kCodeDone);
  CHECK(world.moved);
  CHECK(world.end.left.empty());
}

TEST_CASE("without sockets at the destination the user is told what is left") {
  World world;
  world.destination = false;
  world.run();
  CHECK(world.steps == kMigrated);
  CHECK(world.end.code == kCodeDone);
  CHECK(world.end.left.size() == 3);
}

TEST_CASE("a guest that cannot be looked at, or stands still, is left alone") {
  World unseen;
  unseen.fails("look", Outcome::kFailed, 9);
  unseen.run();
  CHECK(unseen.steps == StepNames{"look"});
  CHECK(unseen.end.code == 9);
  World paused;
  paused.running = false;
  paused.run();
  CHECK(paused.steps == StepNames{"look"});
  CHECK(paused.end.code == kCodeRefused);
}

TEST_CASE("a job that cannot be prepared: nothing is detached, and the guest's code is the end's") {
  for (const int code : {7, 3, 10, 2}) {
    World world;
    world.fails("prepare", Outcome::kFailed, code);
    world.run();
    CHECK(world.steps == StepNames{"look", "prepare", "look_back", "return"});
    CHECK(world.end.code == code);
    CHECK(world.end.text.find("because") == 0);
    CHECK(world.plugged == std::vector<bool>{true, true});
  }
  World released;  // but not by all: the guest's 6, with which vm says that the guest has moved
  released.fails("prepare", Outcome::kFailed, kCodeNotReturned);
  released.run();
  CHECK(released.end.code == kCodeTakenBack);
}

TEST_CASE("a guest without a job is migrated, and no job is told to return") {
  World world;
  world.has_job = false;
  world.run();
  CHECK(world.steps == after(kMigrated, {"arrive", "plug_there0", "plug_there1"}));
  CHECK(world.end.code == kCodeDone);
  CHECK(world.end.text.find("no job") != std::string::npos);
  World alone;
  alone.has_job = alone.destination = false;
  alone.run();
  CHECK(alone.end.left.size() == 2);
  World failed;
  failed.has_job = false;
  failed.fails("begin", Outcome::kFailed);
  failed.run();
  CHECK(failed.steps == after(until("begin"), {"look_back", "plug0", "plug1"}));
  CHECK(failed.end.code == kCodeTakenBack);
}

TEST_CASE("a guest that does not answer in time is told to return") {
  World world;
  world.fails("prepare", Outcome::kTimeout);
  world.run();
  CHECK(world.steps == StepNames{"look", "prepare", "look_back", "return"});
  CHECK(world.end.code == kCodeTakenBack);
}

TEST_CASE("a card that is not given up: those that were come back, it is not plugged in again") {
  for (const Outcome outcome : {Outcome::kFailed, Outcome::kTimeout}) {
    World world;
    world.fails("unplug1", outcome);
    world.run();
    CHECK(world.steps == after(until("unplug1"), {"look_back", "plug0", "return"}));
    CHECK(world.end.code == kCodeTakenBack);
    CHECK_FALSE(world.moved);
    CHECK(world.plugged == std::vector<bool>{true, true});
  }
}

TEST_CASE("a card that is not given up, but that the job has not got any more: that is said") {
  World world;
  world.change = [](Action action, Answer& answer) {
    if (action.step == Step::kUnplug) answer = {Outcome::kTimeout, 0, "late"};
    if (action.step == Step::kReturn) answer.absent = "rank 0: verbs: no device";
  };
  world.run();
  CHECK(world.end.code == kCodeTakenBack);
  CHECK(world.end.text.find("; taken back: the guest runs on here, but its job stays on another") ==
        std::string("late").size());
  REQUIRE(world.end.left.size() == 1);
  CHECK(world.end.left[0].find("the job returns by itself") == 0);
  CHECK(world.end.left[0].find("rank 0: verbs: no device") != std::string::npos);
}

TEST_CASE("a card that goes after its deadline is plugged in again") {
  World world;
  world.change = [&world](Action action, Answer& answer) {
    if (action.step == Step::kUnplug && action.card == 0) answer = {Outcome::kTimeout, 0, "late"};
    if (action.step == Step::kLookBack) answer.seen[0].plugged = world.plugged = {false, true};
  };
  world.run();
  CHECK(world.steps == StepNames{"look", "prepare", "unplug0", "look_back", "plug0", "return"});
}

TEST_CASE("a migration that QEMU refuses, that fails or is cancelled is taken back") {
  World refused;
  refused.fails("begin", Outcome::kFailed);
  refused.run();
  CHECK(refused.steps == after(until("begin"), {"look_back", "plug0", "plug1", "return"}));
  CHECK(refused.end.code == kCodeTakenBack);
  World failed;
  failed.change = [&failed](Action action, Answer& answer) {
    if (action.step == Step::kMigrate)
      answer.seen[0].migration = failed.migration = Migration::kFailed;
  };
  failed.run();
  CHECK(failed.steps == after(kMigrated, {"look_back", "plug0", "plug1", "return"}));
  CHECK(failed.end.code == kCodeTakenBack);
}

TEST_CASE("a guest that stands still after a failed migration goes on") {
  World world;
  world.change = [&world](Action action, Answer& answer) {
    if (action.step == Step::kMigrate) {
      world.running = false;
      answer.seen[0].migration = world.migration = Migration::kFailed;
    }
  };
  world.run();
  CHECK(world.steps == after(kMigrated, {"look_back", "go_on", "plug0", "plug1", "return"}));
}

TEST_CASE("a migration that takes too long is cancelled, and taken back") {
  World world;
  int looks = 0;
  world.change = [&looks](Action action, Answer& answer) {
    if (action.step == Step::kMigrate && looks++ == 0) answer = {Outcome::kTimeout, 0, "too long"};
  };
  world.run();
  CHECK(world.steps ==
        after(kMigrated, {"cancel", "migrate", "look_back", "plug0", "plug1", "return"}));
  CHECK(world.end.code == kCodeTakenBack);
  CHECK(world.end.text.find("too long") == 0);
}

TEST_CASE("a migration that is completed before it could be cancelled is completed") {
  World world;
  int looks = 0;
  world.change = [&](Action action, Answer& answer) {
    if (action.step == Step::kMigrate && looks++ == 0)
      answer = {Outcome::kInterrupted, 0, "Ctrl-C"};
    if (action.step == Step::kCancel) world.migration = Migration::kActive;
  };
  world.run();
  CHECK(world.steps == after(kMigrated, {"cancel", "migrate", "arrive", "plug_there0",
                                         "plug_there1", "return_there"}));
  CHECK(world.end.code == kCodeDone);
  CHECK(world.moved);
}

TEST_CASE("a migration of which nothing is heard any more is left as it is") {
  World lost;
  lost.fails("migrate", Outcome::kFailed);
  lost.run();
  CHECK(lost.steps == kMigrated);
  CHECK(lost.end.code == kCodeUnfinished);
  World stuck;
  stuck.fails("migrate", Outcome::kTimeout);
  stuck.run();
  CHECK(stuck.steps == after(kMigrated, {"cancel", "migrate"}));
  CHECK(stuck.end.code == kCodeUnfinished);
  World unheard;  // unknown whether it began: it is asked about, and given up
  unheard.fails("begin", Outcome::kTimeout);
  unheard.run();
  CHECK(unheard.steps ==
        after(until("begin"), {"cancel", "migrate", "look_back", "plug0", "plug1", "return"}));
}

TEST_CASE("what cannot be taken back is named") {
  World world;
  world.change = [](Action action, Answer& answer) {
    if (action.step == Step::kBegin || action.step == Step::kPlug)
      answer = {Outcome::kFailed, 0, "no such bus"};
  };
  world.run();
  CHECK(world.steps == after(until("begin"), {"look_back", "plug0", "plug1", "return"}));
  CHECK(world.end.code == kCodeUnfinished);
  REQUIRE(world.end.left.size() == 2);
  CHECK(world.end.left[1] == "plug in again b: no such bus");
}

TEST_CASE("cards are plugged in from memory if QEMU cannot be looked at on the way back") {
  World world;
  world.change = [](Action action, Answer& answer) {
    if (action.step == Step::kBegin || action.step == Step::kLookBack)
      answer = {Outcome::kFailed, 0, "gone"};
  };
  world.run();
  CHECK(world.steps == after(until("begin"), {"look_back", "plug0", "plug1", "return"}));
  CHECK(world.end.code == kCodeUnfinished);
}
