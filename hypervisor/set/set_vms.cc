// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_vms.cc -- see set_vms.h.
#include "hypervisor/set/set_vms.h"

#include "hypervisor/restore/restore_steps.h"
#include "hypervisor/snapshot/snapshot_steps.h"

namespace livebtl::hypervisor {
namespace {

std::vector<MachineNames> names_of(const SetRequest& request) {
  std::vector<MachineNames> names;
  for (const MachinePlace& each : request.machines) names.push_back({each.name, each.cards});
  return names;
}

SetAnswer timed(SetSteps& steps, SetAction action, const std::string& of, SetReport& report) {
  SetPhase phase{name_of(action.what), of, false, 0.0, {}};
  const TimeNs begun = monotonic_now();
  SetAnswer answer = steps.perform(action);
  phase.milliseconds = static_cast<double>(monotonic_now() - begun) / 1e6;
  phase.well = answer.went == Went::kWell;
  if (!phase.well) phase.text = answer.text;
  report.phases.push_back(std::move(phase));
  return answer;
}

template <class Machine>
void drive(const SetRequest& request, SetSteps& steps, const std::atomic<bool>& stop,
           const SetSteps::Say& say, SetReport& report) {
  const std::vector<MachineNames> names = names_of(request);
  Machine machine(names);
  while (machine.next().what != SetDo::kEnd) {
    if (stop.load()) machine.interrupt();
    const SetAction action = machine.next();
    if (action.what == SetDo::kEnd) break;
    const std::string of = object_of(action, names);
    say(name_of(action.what) + (of.empty() ? "" : " " + of));
    machine.answer(timed(steps, action, of, report));
  }
  report.end = machine.end();
  report.hold = steps.hold();
}

/// Only looks; what it would do then.
template <class Machine>
void plan_only(const SetRequest& request, SetSteps& steps, SetReport& report) {
  const SetAnswer seen = steps.perform({SetDo::kLook});
  if (seen.went != Went::kWell) {
    report.end = {seen.code, seen.text, {}};
    return;
  }
  Machine machine(names_of(request));
  machine.answer(seen);
  if (machine.next().what == SetDo::kEnd) {  // it would refuse, or has nothing to do
    report.end = machine.end();
    return;
  }
  report.plan = plan_of(machine, request, steps);
  report.end.text = "nothing was done";
  if (seen.sealed || machine.next().what == SetDo::kGoOn || machine.next().what == SetDo::kEndHold)
    report.end.left.emplace_back(
        "a call before was killed; what it has left would be resolved first");
}

}  // namespace

SetReport snapshot_vms(const SetRequest& request, const std::atomic<bool>& stop,
                       const SetSteps::Say& say) {
  SetReport report{"vm snapshot", request.directory, "", {}, request.dry_run, {}, {}};
  SnapshotSteps steps(request, stop, say);
  if (request.dry_run) {
    plan_only<SnapshotMachine>(request, steps, report);
  } else {
    drive<SnapshotMachine>(request, steps, stop, say, report);
  }
  return report;
}

SetReport restore_vms(SetRequest request, const std::atomic<bool>& stop, const SetSteps::Say& say) {
  SetReport report{"vm restore", request.directory, "", {}, request.dry_run, {}, {}};
  const auto set = SetDirectory(request.directory, request.names()).load();
  if (!set) {
    report.end = {code_of_load(set.error().code), set.error().text, {}};
    return report;
  }
  for (const SavedMachine& saved : set->machines) {
    for (MachinePlace& place : request.machines) {
      if (place.name != saved.name) continue;
      for (const Json& card : saved.cards) place.cards.push_back(text_member(card, "id"));
    }
  }
  RestoreSteps steps(request, *set, stop, say);
  if (request.dry_run) {
    plan_only<RestoreMachine>(request, steps, report);
  } else {
    drive<RestoreMachine>(request, steps, stop, say, report);
  }
  return report;
}

}  // namespace livebtl::hypervisor
