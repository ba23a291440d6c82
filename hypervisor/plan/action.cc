// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/plan/action.cc -- see action.h.
#include "hypervisor/plan/action.h"

namespace livebtl::hypervisor {

const char* name_of(Step step) noexcept {
  constexpr const char* kNames[] = {
      "look",      "claim",   "prepare",  "unplug", "begin",  "migrate",    "cancel",
      "look_back", "hold",    "renew",    "save",   "go_on",  "check",      "end_hold",
      "seal",      "discard", "plug",     "return", "arrive", "plug_there", "return_there",
      "forget",    "load",    "restored", "halt",   "end"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Step::kEnd) + 1);
  return kNames[static_cast<std::size_t>(step)];
}

bool Action::of_a_machine() const noexcept {
  return of_a_card() || step == Step::kSave || step == Step::kGoOn || step == Step::kLoad ||
         step == Step::kHalt;
}

bool Action::of_a_card() const noexcept {
  return step == Step::kUnplug || step == Step::kPlug || step == Step::kPlugThere;
}

std::string object_of(Action action, const std::vector<MachineNames>& machines) {
  if (!action.of_a_machine()) return "";
  const MachineNames& machine = machines[action.machine];
  if (!action.of_a_card()) return machine.name;
  const std::string& card = machine.cards[action.card];
  return machine.name.empty() ? card : "card " + card + " of " + machine.name;
}

}  // namespace livebtl::hypervisor
