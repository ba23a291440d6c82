// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_action.h -- what is done to a set of machines to snapshot or restore them, and
// how that went: between the two machines that decide (snapshot_machine.h, restore_machine.h) and
// those who do it (set_steps.h). Pure data.
#pragma once

#include <string>
#include <vector>

#include "hypervisor/plan/step.h"

namespace livebtl::hypervisor {

enum class SetDo {
  kLook,      // where do machines, cards and files stand?
  kClaim,     // the directory; and in each QEMU what a later call must know
  kPrepare,   // in a guest: leave what cannot be saved
  kUnplug,    // a card
  kHold,      // in a guest: park the job
  kRenew,     // ... for longer
  kSave,      // a machine, which stands still then
  kGoOn,      // a machine
  kCheck,     // in a guest: was it parked throughout?
  kEndHold,   // in a guest
  kSeal,      // the set is whole
  kDiscard,   // it is none
  kPlug,      // a card
  kReturn,    // in a guest
  kForget,    // in each QEMU what was kept for a later call
  kLoad,      // a machine
  kRestored,  // in a guest: the job goes on as what was restored
  kHalt,      // a machine: it must not go on
  kEnd
};
const char* name_of(SetDo what) noexcept;

struct SetAction {
  SetDo what = SetDo::kEnd;
  std::size_t machine = 0;  // of kUnplug, kSave, kGoOn, kPlug, kLoad, kHalt
  std::size_t card = 0;     // of kUnplug, kPlug
  bool back = false;        // of kGoOn, kCheck, kEndHold in a snapshot: on the way back

  bool of_a_machine() const noexcept;
  bool of_a_card() const noexcept { return what == SetDo::kUnplug || what == SetDo::kPlug; }
};

struct MachineSeen {
  bool running = false;
  bool claimed = false;       // snapshot: by a call before this one, which was killed
  bool loaded = false;        // restore: its memory is there
  std::vector<bool> plugged;  // by card
  bool sent = false;          // it stands still because its memory was sent somewhere
};

struct SetAnswer {
  Went went = Went::kWell;
  int code = kCodeDone;           // of everything but kWell: the exit code that follows
  std::string text;               // of everything but kWell; and of a set that was sealed
  std::vector<MachineSeen> seen;  // of kLook
  bool sealed = false;            // of kLook, snapshot: the directory holds a whole set
  bool repeats = false;           // ... which the call has made that was killed here
};

/// A machine and its cards, by name: for what is said to people.
struct MachineNames {
  std::string name;
  std::vector<std::string> cards;
};

struct SetEnd {
  int code = kCodeDone;
  std::string text;
  std::vector<std::string> left;  // what somebody has to do by hand
};

/// "vm1", "card hca0 of vm1", "".
std::string object_of(SetAction action, const std::vector<MachineNames>& machines);

}  // namespace livebtl::hypervisor
