// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/migrate/migrate_world.h -- a guest and its cards as the state machine of a
// migration sees them: for its tests. One thread; plain values.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "hypervisor/migrate/migrate_machine.h"

namespace livebtl::hypervisor {

using StepNames = std::vector<std::string>;

inline std::string phase_of(Action action) {
  return name_of(action.step) + (action.of_a_card() ? std::to_string(action.card) : "");
}

/// A guest with two cards that does what it is told, except for what a test changes.
struct World {
  bool running = true;
  Migration migration = Migration::kNone;
  std::vector<bool> plugged = {true, true};
  bool destination = true;
  bool has_job = true;
  bool noted = true;             // QEMU has notes of the cards that are gone
  std::string interrupt_before;  // a step
  std::function<void(Action, Answer&)> change = [](Action, Answer&) {};

  StepNames steps;
  End end;
  bool moved = false;

  Answer seen() const {
    const bool gone = std::find(plugged.begin(), plugged.end(), false) != plugged.end();
    Answer answer;
    answer.seen = {
        {.running = running, .plugged = plugged, .migration = migration, .pulled = gone && noted}};
    answer.has_job = has_job;
    return answer;
  }

  Answer act(Action action) {
    switch (action.step) {
      case Step::kUnplug:
        plugged[action.card] = false;
        break;
      case Step::kPlug:
        CHECK_FALSE(plugged[action.card]);  // never plugged in twice
        plugged[action.card] = true;
        break;
      case Step::kBegin:
        migration = Migration::kActive;
        break;
      case Step::kMigrate:
        migration = migration == Migration::kActive ? Migration::kCompleted : migration;
        break;
      case Step::kCancel:
        migration = Migration::kFailed;
        break;
      default:
        break;
    }
    return seen();
  }

  void run() {
    MigrateMachine machine({"a", "b"}, destination);
    for (int i = 0; i < 100 && machine.next().step != Step::kEnd; ++i) {
      if (phase_of(machine.next()) == interrupt_before) machine.interrupt();
      const Action action = machine.next();
      if (action.step == Step::kEnd) break;
      steps.push_back(phase_of(action));
      const World before = *this;
      Answer answer = act(action);
      change(action, answer);
      const bool undone = !answer.ok();
      if (undone && action.step != Step::kMigrate) {
        running = before.running;
        migration = before.migration;
        plugged = before.plugged;
      } else if (undone) {
        migration = before.migration;
      }
      machine.answer(answer);
    }
    REQUIRE(machine.next().step == Step::kEnd);
    end = machine.end();
    moved = machine.moved();
  }

  void fails(const std::string& step, Outcome outcome, int code = 0) {
    change = [=](Action action, Answer& answer) {
      if (phase_of(action) == step) answer = {outcome, code, "because"};
    };
  }
};

inline const StepNames kMigrated = {"look", "prepare", "unplug0", "unplug1", "begin", "migrate"};

inline StepNames after(StepNames steps, const StepNames& more) {
  steps.insert(steps.end(), more.begin(), more.end());
  return steps;
}

inline StepNames until(const std::string& last) {
  StepNames steps;
  for (const auto& step : kMigrated) {
    steps.push_back(step);
    if (step == last) break;
  }
  return steps;
}

}  // namespace livebtl::hypervisor
