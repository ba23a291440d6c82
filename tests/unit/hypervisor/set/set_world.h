// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/set/set_world.h -- two machines and their files as the state machines that
// snapshot and restore see them: for their tests. One thread; plain values.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "hypervisor/restore/restore_machine.h"
#include "hypervisor/snapshot/snapshot_machine.h"

namespace livebtl::hypervisor {

using StepNames = std::vector<std::string>;

inline std::string step_of(Action action) {
  std::string step = name_of(action.step);
  if (action.of_a_machine()) step += std::to_string(action.machine);
  if (action.of_a_card()) step += action.machine == 0 ? "a" : "b";
  return step;
}

inline StepNames followed_by(StepNames steps, const StepNames& more) {
  steps.insert(steps.end(), more.begin(), more.end());
  return steps;
}

/// The steps up to and including one.
inline StepNames up_to(const StepNames& steps, const std::string& last) {
  const auto at = std::find(steps.begin(), steps.end(), last);
  REQUIRE(at != steps.end());
  return {steps.begin(), at + 1};
}

/// Two machines with a card each that do what they are told, except for what a test changes. It
/// outlives calls that are killed.
struct SetWorld {
  struct One {
    bool running = true, claimed = false, loaded = false, plugged = true, sent = false;
  };
  One machines[2];
  bool cards = true;
  bool held = false;  // the job
  bool prepared = false;
  bool files = false;                                         // exist
  bool sealed = false;                                        // ... and are a set
  std::string killed_after, killed_before, interrupt_before;  // steps
  std::function<void(const std::string&, Answer&)> change = [](const std::string&, Answer&) {};

  StepNames steps;
  End end;

  std::vector<MachineNames> names() const {
    const std::vector<std::string> card = {"hca"};
    return {{"vm1", cards ? card : StepNames{}}, {"vm2", cards ? card : StepNames{}}};
  }

  Answer look() const {
    Answer answer;
    answer.sealed = sealed;
    answer.repeats = sealed && (machines[0].claimed || machines[1].claimed);
    if (sealed) answer.text = "monday holds a set";
    for (const One& one : machines)
      answer.seen.push_back(
          {.running = one.running,
           .plugged = cards ? std::vector<bool>{one.plugged} : std::vector<bool>{},
           .claimed = one.claimed,
           .sent = one.sent,
           .loaded = one.loaded});
    return answer;
  }

  void speak() const { CHECK(machines[0].running); }  // otherwise its guest hears nothing

  void of_the_job(Step step) {
    speak();
    if (step == Step::kPrepare) prepared = true;
    if (step == Step::kReturn) {
      CHECK_FALSE(held);
      prepared = false;
    }
    if (step == Step::kHold) {
      CHECK_FALSE(held);
      held = true;
    }
    if (step == Step::kRenew || step == Step::kCheck) CHECK((held && machines[1].running));
    if (step == Step::kEndHold || step == Step::kRestored) held = false;
  }

  void of_a_machine(Action action) {
    One& one = machines[action.machine];
    if (action.step == Step::kUnplug) {
      CHECK(prepared);
      CHECK(one.plugged);
      one.plugged = false;
    }
    if (action.step == Step::kPlug) one.plugged = true;
    if (action.step == Step::kSave) {
      CHECK(held);
      CHECK_FALSE((cards && one.plugged));
      one.running = false;
      files = true;
    }
    if (action.step == Step::kLoad) one.loaded = true;
    if (action.step == Step::kGoOn) one.running = true;
    if (action.step == Step::kHalt) one.running = false;
  }

  Answer act(Action action) {
    if (action.step == Step::kLook) return look();
    if (action.of_a_machine()) {
      of_a_machine(action);
    } else if (action.step == Step::kClaim) {
      machines[0].claimed = machines[1].claimed = true;
      files = false;
    } else if (action.step == Step::kForget) {
      machines[0].claimed = machines[1].claimed = false;
    } else if (action.step == Step::kSeal) {
      sealed = true;
    } else if (action.step == Step::kDiscard) {
      files = false;
    } else {
      of_the_job(action.step);
    }
    return {};
  }

  template <class Machine>
  void run() {
    steps.clear();
    Machine machine(names());
    for (int i = 0; i < 100 && machine.next().step != Step::kEnd; ++i) {
      if (step_of(machine.next()) == interrupt_before) machine.interrupt();
      const Action action = machine.next();
      const std::string step = step_of(action);
      if (action.step == Step::kEnd || step == killed_before) break;
      steps.push_back(step);
      Answer answer;
      change(step, answer);
      if (answer.ok()) answer = act(action);
      if (step == killed_after) break;
      machine.answer(answer);
    }
    end = machine.end();
    if (killed_after.empty() && killed_before.empty()) REQUIRE(machine.next().step == Step::kEnd);
  }

  void fails(const std::string& step, Outcome outcome, int code) {
    change = [=](const std::string& now, Answer& answer) {
      if (now == step) answer = {outcome, code, "because"};
    };
  }
  /// Checks that everything is as it was before, and nothing is left.
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

inline const StepNames kSnapshot = {"look",  "claim",  "prepare", "unplug0a", "unplug1b", "hold",
                                    "save0", "go_on0", "renew",   "save1",    "go_on1",   "check"};
inline const StepNames kCards = {"plug0a", "plug1b", "return", "forget"};

}  // namespace livebtl::hypervisor
