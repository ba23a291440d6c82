// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/migrate/migrate_world.h -- a guest and its cards as the machine of a
// migration sees them: for its tests. One thread; plain values.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "hypervisor/migrate/migrate_machine.h"

namespace livebtl::hypervisor {

using Steps = std::vector<std::string>;

inline std::string step_of(Action action) {
  const bool of_a_card =
      action.what == Do::kUnplug || action.what == Do::kPlug || action.what == Do::kPlugThere;
  return std::string(name_of(action.what)) + (of_a_card ? std::to_string(action.card) : "");
}

/// A guest with two cards, that does what it is told but for what a test changes.
struct World {
  bool running = true;
  Migration migration = Migration::kNone;
  std::vector<bool> plugged = {true, true};
  bool destination = true;
  bool has_job = true;
  bool noted = true;             // cards that are gone, in QEMU
  std::string interrupt_before;  // a step
  std::function<void(Action, Answer&)> change = [](Action, Answer&) {};

  Steps steps;
  MigrateEnd end;

  Seen seen() const {
    const bool gone = std::find(plugged.begin(), plugged.end(), false) != plugged.end();
    return {running, migration, plugged, has_job, gone && noted};
  }

  Answer act(Action action) {
    switch (action.what) {
      case Do::kUnplug:
        plugged[action.card] = false;
        break;
      case Do::kPlug:
        CHECK_FALSE(plugged[action.card]);  // never plugged in twice
        plugged[action.card] = true;
        break;
      case Do::kMigrate:
        migration = Migration::kActive;
        break;
      case Do::kFollow:
        migration = migration == Migration::kActive ? Migration::kCompleted : migration;
        break;
      case Do::kCancel:
        migration = Migration::kFailed;
        break;
      default:
        break;
    }
    return {Went::kWell, 0, "", seen()};
  }

  void run() {
    MigrateMachine machine({"a", "b"}, destination);
    for (int i = 0; i < 100 && machine.next().what != Do::kEnd; ++i) {
      if (step_of(machine.next()) == interrupt_before) machine.interrupt();
      const Action action = machine.next();
      if (action.what == Do::kEnd) break;
      steps.push_back(step_of(action));
      const World before = *this;
      Answer answer = act(action);
      change(action, answer);
      const bool undone = answer.went != Went::kWell;
      if (undone && action.what != Do::kFollow) {
        running = before.running;
        migration = before.migration;
        plugged = before.plugged;
      } else if (undone) {
        migration = before.migration;
      }
      machine.answer(answer);
    }
    REQUIRE(machine.next().what == Do::kEnd);
    end = machine.end();
  }

  void fails(const std::string& step, Went went, int code = 0) {
    change = [=](Action action, Answer& answer) {
      if (step_of(action) == step) answer = {went, code, "because", {}};
    };
  }
};

inline const Steps kThere = {"look", "prepare", "unplug0", "unplug1", "begin", "migrate"};

inline Steps after(Steps steps, const Steps& more) {
  steps.insert(steps.end(), more.begin(), more.end());
  return steps;
}

inline Steps until(const std::string& last) {
  Steps steps;
  for (const auto& step : kThere) {
    steps.push_back(step);
    if (step == last) break;
  }
  return steps;
}

}  // namespace livebtl::hypervisor
