// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/plan/sequence.h -- a state machine that decides what a command does next, given how
// everything before has gone: MigrateMachine, SnapshotMachine and RestoreMachine. Pure: no socket,
// no clock. Driven by report.h, played by plan.h and by tests; owns nothing but its own state.
#pragma once

#include <memory>

#include "hypervisor/plan/action.h"
#include "hypervisor/plan/answer.h"

namespace livebtl::hypervisor {

class Sequence {
 public:
  virtual ~Sequence() = default;
  virtual std::unique_ptr<Sequence> clone() const = 0;

  /// What is to be done; kEnd: nothing any more.
  virtual Action next() const noexcept { return next_; }
  /// How that went.
  virtual void answer(const Answer& answer) = 0;
  /// The user wants the machines back. Has no effect where there is no way back.
  virtual void interrupt() = 0;

  const End& end() const noexcept { return end_; }
  /// Of next(): what it is done to, and all of it: "unplug card hca0 of vm1".
  std::string object() const { return object_of(next_, machines_); }
  std::string label() const;

 protected:
  explicit Sequence(std::vector<MachineNames> machines);
  Sequence(const Sequence&) = default;
  Sequence& operator=(const Sequence&) = default;

  void finish(int code, std::string text);
  /// next() has failed, and is left to the user.
  void leave(const Answer& answer);
  /// Which cards are there, from now on.
  void see_cards(const Answer& answer);
  bool has_cards() const noexcept;
  /// `step` is next, of the first card from this one on that is plugged in, or is not; false: there
  /// is none.
  bool next_card(Step step, bool plugged, std::size_t machine = 0, std::size_t card = 0);

  std::vector<MachineNames> machines_;
  std::vector<std::vector<bool>> plugged_;  // by machine and card, as far as it is known
  Action next_{Step::kLook};
  End end_;
};

}  // namespace livebtl::hypervisor
