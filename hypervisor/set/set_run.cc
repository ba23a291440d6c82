// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_run.cc -- see set_run.h.
#include "hypervisor/set/set_run.h"

namespace livebtl::hypervisor {
namespace {

/// Only looks; what would be done then.
void plan_set(const SetCommand& command, const SetRequest& request, Sequence& machine,
              SetSteps& steps, Report& report) {
  const Answer looked = steps.perform({Step::kLook});
  machine.answer(looked);
  const Step next = machine.next().step;
  if (next == Step::kEnd) {  // it would refuse, or has nothing to do
    report.end = machine.end();
    return;
  }
  report.plan = plan_of(command, request, machine, steps);
  report.end.text = "nothing was done";
  if (looked.sealed || next == Step::kGoOn || next == Step::kEndHold)
    report.end.left.emplace_back(
        "an earlier call was killed; what it has left would be cleared up first");
}

}  // namespace

Report empty_report(const SetCommand& command, const SetRequest& request) {
  Report report{.verb = command.verb, .object_key = "of", .dry_run = request.dry_run};
  report.details = {{"directory", request.directory}, {"hold", ""}};
  return report;
}

Report run_set(const SetCommand& command, const SetRequest& request, Sequence& machine,
               SetSteps& steps, const std::atomic<bool>& stop, const Progress& progress) {
  Report report = empty_report(command, request);
  if (request.dry_run) {
    plan_set(command, request, machine, steps, report);
  } else {
    drive(machine, steps, stop, progress, report);
    report.details["hold"] = steps.hold();
  }
  return report;
}

}  // namespace livebtl::hypervisor
