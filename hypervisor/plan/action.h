// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/plan/action.h -- the steps that vm migrate, snapshot and restore are made of, and what
// a step is done to. Pure data.
#pragma once

#include <string>
#include <vector>

namespace livebtl::hypervisor {

enum class Step {
  kLook,         // where do machines, cards, files and migrations stand?
  kClaim,        // the set's directory; and note in each QEMU what a later call must know
  kPrepare,      // in a guest: leave what cannot be migrated or saved
  kUnplug,       // a card
  kBegin,        // the migration
  kMigrate,      // until it is decided
  kCancel,       // ask QEMU to give the migration up
  kLookBack,     // on the way back: which cards are gone?
  kHold,         // in a guest: park the job
  kRenew,        // ... for longer
  kSave,         // a machine, which stands still from then on
  kGoOn,         // a machine
  kCheck,        // in a guest: was the job parked throughout?
  kEndHold,      // in a guest
  kSeal,         // the set is whole
  kDiscard,      // there is no set
  kPlug,         // a card
  kReturn,       // in a guest: take the cards up again
  kArrive,       // until the guest runs at the destination
  kPlugThere,    // a card, at the destination
  kReturnThere,  // in the guest, at the destination
  kForget,       // in each QEMU what was noted for a later call
  kLoad,         // a machine
  kRestored,     // in a guest: the job goes on as what was restored
  kHalt,         // a machine: it must not go on
  kEnd
};
const char* name_of(Step step) noexcept;

struct Action {
  Step step = Step::kEnd;
  std::size_t machine = 0;  // of kSave, kGoOn, kLoad, kHalt, and of a card's
  std::size_t card = 0;     // of kUnplug, kPlug, kPlugThere
  bool back = false;        // snapshot's kGoOn, kCheck, kEndHold: on the way back

  bool of_a_machine() const noexcept;
  bool of_a_card() const noexcept;
};

/// A virtual machine and its cards by name. Where there is but one machine it has none.
struct MachineNames {
  std::string name;
  std::vector<std::string> cards;
};

/// "vm1", "card hca0 of vm1", "hca0", "".
std::string object_of(Action action, const std::vector<MachineNames>& machines);

}  // namespace livebtl::hypervisor
