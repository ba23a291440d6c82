// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/snapshot/snapshot_machine.h -- the order in which a job's machines are snapshot, and
// of the way back: what is to be done next, given how everything before has gone. Pure: no socket,
// no clock. Used by whoever does it (set_vms.cc) and by tests; owns nothing but its own state.
//
// There: claim, prepare, unplug all cards, hold, save one machine after the other, check. Then, in
// any case, back to what was: all run, the hold ends, cards are plugged in, the job returns. The
// check decides whether a set of snapshots remains or nothing does; where a step has failed for
// which the guest gave no reason, it also tells whether that was the hold's end.
#pragma once

#include "hypervisor/set/set_action.h"

namespace livebtl::hypervisor {

class SnapshotMachine {
 public:
  explicit SnapshotMachine(std::vector<MachineNames> machines);

  /// What is to be done; kEnd: nothing any more.
  SetAction next() const noexcept {
    SetAction action = next_;
    action.back = back_ && !clearing_;  // to clear up after a killed call is part of the way there
    return action;
  }
  /// How that went.
  void answer(const SetAnswer& answer);
  /// Somebody wants his machines back. On the way back nobody hears it.
  void interrupt();

  const SetEnd& end() const noexcept { return end_; }

 private:
  void looked(const SetAnswer& answer);
  void went_well();
  void failed(const SetAnswer& answer);
  void undid(const SetAnswer& answer);
  void undo_next();
  void finish(int code, std::string text);
  void go_back(int code, const std::string& text);
  void unplug_from(std::size_t machine, std::size_t card);
  void saved();
  void go_on_from(std::size_t machine);
  void checked_late(const SetAnswer& answer);
  void plug_from(std::size_t machine, std::size_t card);
  void over();
  bool has_cards() const noexcept;

  std::vector<MachineNames> machines_;
  SetAction next_{SetDo::kLook};
  std::vector<bool> stopped_;            // by machine: it may stand still, by us
  std::vector<std::vector<bool>> gone_;  // by machine and card: it may be unplugged, by us
  bool claimed_ = false, prepared_ = false, held_ = false;  // or perhaps
  bool was_held_ = false;                                   // for sure, by us
  bool clearing_ = false;  // what a killed call has left; then there
  bool back_ = false;
  bool sealed_ = false;  // the set is whole
  bool good_ = false;    // ... or may become so: it was held throughout
  SetEnd end_;
};

}  // namespace livebtl::hypervisor
