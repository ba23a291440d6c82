// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/snapshot/snapshot_vms.cc -- see snapshot_vms.h.
#include "hypervisor/snapshot/snapshot_vms.h"

#include <algorithm>

#include "hypervisor/snapshot/snapshot_machine.h"
#include "hypervisor/snapshot/snapshot_steps.h"

namespace livebtl::hypervisor {
namespace {

constexpr SetCommand kSnapshot{"vm snapshot", Step::kCheck,
                               "if the check says that the job was not held throughout:"};

/// Reads back the set from the disk once the job runs on with its cards: a set that is damaged from
/// the start is no set.
void verify_set(const SetRequest& request, const std::atomic<bool>& stop, const Progress& progress,
                Report& report) {
  SetDirectory directory(request.directory, request.names());
  const auto set = directory.load();
  Status verified = set ? Status() : tl::unexpected(set.error());
  for (std::size_t i = 0; verified && i < set->machines.size(); ++i) {
    const SavedMachine& machine = set->machines[i];
    progress("verify " + machine.name);
    const TimeNs begin = monotonic_now();
    verified = directory.verify(machine, &stop);
    report.phases.push_back({"verify", machine.name, verified.has_value(),
                             static_cast<double>(monotonic_now() - begin) / 1e6,
                             verified ? "" : verified.error().text});
  }
  if (verified) return;
  if (verified.error().code != Errc::kCorrupt) {
    const bool by_user = verified.error().code == Errc::kCancelled;
    report.end.code = by_user ? kCodeInterrupted : kCodeUnfinished;
    report.end.text += "; but not all of it was verified: " + verified.error().text +
                       " (vm restore verifies it, also with --dry-run)";
    return;
  }
  report.end.code = kCodeInconsistent;
  report.end.text = verified.error().text;
  if (const auto unsealed = directory.unseal(); !unsealed)
    report.end.left.push_back("delete this set: " + unsealed.error().text);
}

/// Its lines come before those that say what is done if the check fails.
void plan_to_verify(const SetRequest& request, Lines& plan) {
  Lines lines;
  for (const MachinePlace& machine : request.machines)
    lines.push_back("verify " + machine.name + ": read " + request.directory + "/" +
                    ram_file(machine.name) + " from the disk, and compare its checksum");
  const auto failing = std::find(plan.begin(), plan.end(), kSnapshot.if_it_fails);
  plan.insert(failing, lines.begin(), lines.end());
}

}  // namespace

Report snapshot_vms(const SetRequest& request, const std::atomic<bool>& stop,
                    const Progress& progress) {
  SnapshotSteps steps(request, stop, progress);
  SnapshotMachine machine(request.machine_names());
  Report report = run_set(kSnapshot, request, machine, steps, stop, progress);
  if (!report.plan.empty()) plan_to_verify(request, report.plan);
  const bool made = report.end.code == kCodeDone || report.end.code == kCodeNotReturned;
  if (made && !request.dry_run) verify_set(request, stop, progress, report);
  return report;
}

}  // namespace livebtl::hypervisor
