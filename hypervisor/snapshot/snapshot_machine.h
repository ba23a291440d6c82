// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/snapshot/snapshot_machine.h -- the order in which a job's machines are saved, and the
// order of the way back. Pure: no socket, no clock; owns nothing but its own state.
//
// The way there: claim, prepare, unplug all cards, hold, save one machine after another, check.
// Then, in any case, back to what was: all machines run, the hold ends, the cards are plugged in,
// the job returns. The check decides whether a set of snapshots remains, or nothing. If a step
// failed and the guest gave no reason, a check on the way back tells whether the end of the hold
// was the cause.
#pragma once

#include "hypervisor/plan/sequence.h"

namespace livebtl::hypervisor {

class SnapshotMachine : public Sequence {
 public:
  explicit SnapshotMachine(std::vector<MachineNames> machines)
      : Sequence(std::move(machines)), stopped_(machines_.size(), false) {}
  std::unique_ptr<Sequence> clone() const override {
    return std::make_unique<SnapshotMachine>(*this);
  }

  Action next() const noexcept override {
    Action action = next_;
    action.back = back_ && !clearing_;  // clearing up after a killed call is part of the way there
    return action;
  }
  void answer(const Answer& answer) override;
  void interrupt() override;

 private:
  void looked(const Answer& answer);
  void went_well();
  void failed(const Answer& answer);
  void undid(const Answer& answer);
  void undo_next();
  void go_back(int code, const std::string& text);
  void unplug_from(std::size_t machine, std::size_t card);
  void saved();
  void go_on_from(std::size_t machine);
  void checked_late(const Answer& answer);
  void plug_from(std::size_t machine, std::size_t card);
  void over();

  std::vector<bool> stopped_;                               // by machine: we may have stopped it
  bool claimed_ = false, prepared_ = false, held_ = false;  // perhaps
  bool was_held_ = false;                                   // for certain, by us
  bool clearing_ = false;  // clearing up after a killed call; the way there follows
  bool back_ = false;
  bool sealed_ = false;  // the set is whole
  bool good_ = false;    // it may be sealed: the job was held throughout
};

}  // namespace livebtl::hypervisor
