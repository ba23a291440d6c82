// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/snapshot/snapshot_vms.cc -- see snapshot_vms.h.
#include "hypervisor/snapshot/snapshot_vms.h"

#include "hypervisor/snapshot/snapshot_machine.h"
#include "hypervisor/snapshot/snapshot_steps.h"

namespace livebtl::hypervisor {
namespace {

constexpr SetCommand kSnapshot{"vm snapshot", Step::kCheck,
                               "if the check says that the job was not held throughout:"};

}  // namespace

Report snapshot_vms(const SetRequest& request, const std::atomic<bool>& stop,
                    const Progress& progress) {
  SnapshotSteps steps(request, stop, progress);
  SnapshotMachine machine(request.machine_names());
  return run_set(kSnapshot, request, machine, steps, stop, progress);
}

}  // namespace livebtl::hypervisor
