// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/set/set_world.h -- two machines and their files as the machines that
// snapshot and restore them see them: for their tests. One thread; plain values.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "hypervisor/restore/restore_machine.h"
#include "hypervisor/snapshot/snapshot_machine.h"

namespace livebtl::hypervisor {

using Steps = std::vector<std::string>;

inline std::string step_of(SetAction action) {
  std::string step = name_of(action.what);
  if (action.of_a_machine()) step += std::to_string(action.machine);
  if (action.of_a_card()) step += action.machine == 0 ? "a" : "b";
  return step;
}

inline Steps followed_by(Steps steps, const Steps& more) {
  steps.insert(steps.end(), more.begin(), more.end());
  return steps;
}

/// The steps up to one.
inline Steps up_to(const Steps& steps, const std::string& last) {
  const auto at = std::find(steps.begin(), steps.end(), last);
  REQUIRE(at != steps.end());
  return {steps.begin(), at + 1};
}

/// Two machines with a card each, that do what they are told but for what a test changes. It lives
/// on when a call is killed.
struct SetWorld {
  struct One {
    bool running = true, claimed = false, loaded = false, plugged = true, sent = false;
  };
  One machines[2];
  bool cards = true;
  bool held = false;  // the job
  bool prepared = false;
  bool files = false;                                         // are there
  bool sealed = false;                                        // ... and are a set
  std::string killed_after, killed_before, interrupt_before;  // steps
  std::function<void(const std::string&, SetAnswer&)> change = [](const std::string&, SetAnswer&) {
  };

  Steps steps;
  SetEnd end;

  std::vector<MachineNames> names() const {
    const std::vector<std::string> card = {"hca"};
    return {{"vm1", cards ? card : Steps{}}, {"vm2", cards ? card : Steps{}}};
  }

  SetAnswer look() const {
    SetAnswer answer;
    answer.sealed = sealed;
    answer.repeats = sealed && (machines[0].claimed || machines[1].claimed);
    if (sealed) answer.text = "monday holds a set";
    for (const One& one : machines)
      answer.seen.push_back({one.running, one.claimed, one.loaded,
                             cards ? std::vector<bool>{one.plugged} : std::vector<bool>{},
                             one.sent});
    return answer;
  }

  void speak() const { CHECK(machines[0].running); }  // else its guest hears nothing

  void of_the_job(SetDo what) {
    speak();
    if (what == SetDo::kPrepare) prepared = true;
    if (what == SetDo::kReturn) {
      CHECK_FALSE(held);
      prepared = false;
    }
    if (what == SetDo::kHold) {
      CHECK_FALSE(held);
      held = true;
    }
    if (what == SetDo::kRenew || what == SetDo::kCheck) CHECK((held && machines[1].running));
    if (what == SetDo::kEndHold || what == SetDo::kRestored) held = false;
  }

  void of_a_machine(SetAction action) {
    One& one = machines[action.machine];
    if (action.what == SetDo::kUnplug) {
      CHECK(prepared);
      CHECK(one.plugged);
      one.plugged = false;
    }
    if (action.what == SetDo::kPlug) one.plugged = true;
    if (action.what == SetDo::kSave) {
      CHECK(held);
      CHECK_FALSE((cards && one.plugged));
      one.running = false;
      files = true;
    }
    if (action.what == SetDo::kLoad) one.loaded = true;
    if (action.what == SetDo::kGoOn) one.running = true;
    if (action.what == SetDo::kHalt) one.running = false;
  }

  SetAnswer act(SetAction action) {
    if (action.what == SetDo::kLook) return look();
    if (action.of_a_machine()) {
      of_a_machine(action);
    } else if (action.what == SetDo::kClaim) {
      machines[0].claimed = machines[1].claimed = true;
      files = false;
    } else if (action.what == SetDo::kForget) {
      machines[0].claimed = machines[1].claimed = false;
    } else if (action.what == SetDo::kSeal) {
      sealed = true;
    } else if (action.what == SetDo::kDiscard) {
      files = false;
    } else {
      of_the_job(action.what);
    }
    return {};
  }

  template <class Machine>
  void run() {
    steps.clear();
    Machine machine(names());
    for (int i = 0; i < 100 && machine.next().what != SetDo::kEnd; ++i) {
      if (step_of(machine.next()) == interrupt_before) machine.interrupt();
      const SetAction action = machine.next();
      const std::string step = step_of(action);
      if (action.what == SetDo::kEnd || step == killed_before) break;
      steps.push_back(step);
      SetAnswer answer;
      change(step, answer);
      if (answer.went == Went::kWell) answer = act(action);
      if (step == killed_after) break;
      machine.answer(answer);
    }
    end = machine.end();
    if (killed_after.empty() && killed_before.empty()) REQUIRE(machine.next().what == SetDo::kEnd);
  }

  void fails(const std::string& step, Went went, int code) {
    change = [=](const std::string& now, SetAnswer& answer) {
      if (now == step) answer = {went, code, "because", {}, false};
    };
  }
  /// Everything is as it was before, and nothing is left.
  void is_as_before() const {
    for (const One& one : machines) {
      CHECK(one.running);
      CHECK(one.plugged);
      CHECK_FALSE(one.claimed);
    }
    CHECK_FALSE(held);
    CHECK_FALSE(prepared);
  }
};

inline const Steps kSnapshot = {"look",  "claim",  "prepare", "unplug0a", "unplug1b", "hold",
                                "save0", "go_on0", "renew",   "save1",    "go_on1",   "check"};
inline const Steps kCards = {"plug0a", "plug1b", "return", "forget"};

}  // namespace livebtl::hypervisor
