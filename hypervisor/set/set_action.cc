// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_action.cc -- see set_action.h.
#include "hypervisor/set/set_action.h"

namespace livebtl::hypervisor {

const char* name_of(SetDo what) noexcept {
  constexpr const char* kNames[] = {"look",  "claim",    "prepare", "unplug", "hold",
                                    "renew", "save",     "go_on",   "check",  "end_hold",
                                    "seal",  "discard",  "plug",    "return", "forget",
                                    "load",  "restored", "halt",    "end"};
  return kNames[static_cast<std::size_t>(what)];
}

bool SetAction::of_a_machine() const noexcept {
  return of_a_card() || what == SetDo::kSave || what == SetDo::kGoOn || what == SetDo::kLoad ||
         what == SetDo::kHalt;
}

std::string object_of(SetAction action, const std::vector<MachineNames>& machines) {
  if (!action.of_a_machine()) return "";
  const MachineNames& machine = machines[action.machine];
  return action.of_a_card() ? "card " + machine.cards[action.card] + " of " + machine.name
                            : machine.name;
}

}  // namespace livebtl::hypervisor
