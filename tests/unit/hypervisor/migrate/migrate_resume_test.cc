// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/migrate/migrate_resume_test.cc -- a migration that the user interrupts, one
// past its point of no return, and calls after one that was killed. No sockets, no time.
#include "tests/unit/hypervisor/migrate/migrate_world.h"

using namespace livebtl::hypervisor;

TEST_CASE("after the point of no return nothing goes back") {
  for (const char* step : {"arrive", "plug_there0", "plug_there1", "return_there"}) {
    World world;
    world.fails(step, Outcome::kTimeout);
    world.interrupt_before = step;
    world.run();
    CAPTURE(step);
    CHECK(world.steps.back() == step);
    CHECK(world.end.code == kCodeNotReturned);
    CHECK(world.moved);
    CHECK(world.end.left.size() == 1);
  }
}

TEST_CASE("Ctrl-C goes back from wherever it comes") {
  const std::vector<std::pair<std::string, StepNames>> cases = {
      {"look", {}},
      {"prepare", {"look"}},
      {"unplug0", {"look", "prepare", "look_back", "return"}},
      {"unplug1", {"look", "prepare", "unplug0", "look_back", "plug0", "return"}},
      {"begin", {"look", "prepare", "unplug0", "unplug1", "look_back", "plug0", "plug1", "return"}},
      {"migrate",
       after(until("begin"), {"cancel", "migrate", "look_back", "plug0", "plug1", "return"})}};
  for (const auto& each : cases) {
    World world;
    world.interrupt_before = each.first;
    world.run();
    CAPTURE(each.first);
    CHECK(world.steps == each.second);
    CHECK(world.end.code == kCodeInterrupted);
    CHECK_FALSE(world.moved);
    CHECK(world.plugged == std::vector<bool>{true, true});
  }
}

TEST_CASE("a call after one that was killed goes on from where that was") {
  World unplugging;
  unplugging.plugged = {false, true};
  unplugging.run();
  CHECK(unplugging.steps == StepNames{"look", "prepare", "unplug1", "begin", "migrate", "arrive",
                                      "plug_there0", "plug_there1", "return_there"});
  World migrating;
  migrating.plugged = {false, false};
  migrating.migration = Migration::kActive;
  migrating.run();
  CHECK(migrating.steps ==
        StepNames{"look", "migrate", "arrive", "plug_there0", "plug_there1", "return_there"});
  World moved;
  moved.plugged = {false, false};
  moved.running = false;
  moved.migration = Migration::kCompleted;
  moved.run();
  CHECK(moved.steps == StepNames{"look", "arrive", "plug_there0", "plug_there1", "return_there"});
  CHECK(moved.end.code == kCodeDone);
}

TEST_CASE("a call that was killed before it let a guest go on that stood still: the next does") {
  World killed;
  killed.plugged = {false, true};
  killed.running = false;
  killed.migration = Migration::kFailed;
  killed.change = [&killed](Action action, Answer&) {
    if (action.step == Step::kGoOn) killed.running = true;
  };
  killed.run();
  CHECK(killed.steps == StepNames{"look", "look_back", "go_on", "plug0", "return"});
  CHECK(killed.end.code == kCodeTakenBack);
  CHECK(killed.end.text.find("a card that livebtl had pulled was gone") != std::string::npos);
  for (const bool gone : {false, true}) {  // by another client: stopped, and perhaps a card pulled
    World stopped;
    stopped.running = stopped.noted = false;
    stopped.plugged[0] = !gone;
    stopped.migration = Migration::kFailed;
    stopped.run();
    CHECK(stopped.steps == StepNames{"look"});
    CHECK(stopped.end.code == kCodeRefused);
  }
}

TEST_CASE("a guest that was saved with its cards was not moved by us") {
  World saved;
  saved.plugged = {false, true};
  saved.running = false;
  saved.migration = Migration::kCompleted;
  saved.run();
  CHECK(saved.steps == StepNames{"look"});
  CHECK(saved.end.code == kCodeRefused);
  CHECK(saved.end.text.find("with b plugged in") != std::string::npos);
  CHECK_FALSE(saved.moved);
}
