// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/restore/restore_vms.cc -- see restore_vms.h.
#include "hypervisor/restore/restore_vms.h"

#include "hypervisor/restore/restore_machine.h"
#include "hypervisor/restore/restore_steps.h"

namespace livebtl::hypervisor {
namespace {

constexpr SetCommand kRestore{"vm restore", Step::kRestored,
                              "if the job says that they do not fit together:"};

}  // namespace

Report restore_vms(SetRequest request, const std::atomic<bool>& stop, const Progress& progress) {
  const auto set = SetDirectory(request.directory, request.names()).load();
  if (!set) {
    Report report = empty_report(kRestore, request);
    report.end = {code_of_load(set.error().code), set.error().text};
    return report;
  }
  for (const SavedMachine& saved : set->machines) {
    for (MachinePlace& place : request.machines) {
      if (place.name != saved.name) continue;
      for (const Json& card : saved.cards) place.cards.push_back(text_member(card, "id"));
    }
  }
  RestoreSteps steps(request, *set, stop, progress);
  RestoreMachine machine(request.machine_names());
  return run_set(kRestore, request, machine, steps, stop, progress);
}

}  // namespace livebtl::hypervisor
