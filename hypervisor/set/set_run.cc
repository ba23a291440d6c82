// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/set/set_run.cc -- see set_run.h.
#include "hypervisor/set/set_run.h"

namespace livebtl::hypervisor {
namespace {

/// The order to the job's guest that this step gives.
Verb verb_for(Step step, const std::string& hold, TimeNs lease) {
  switch (step) {
    case Step::kPrepare:
      return verb_of(GuestOrder::kPrepare, "");
    case Step::kHold:
      return hold_start(hold, lease);
    case Step::kRenew:
      return hold_renew(hold, lease);
    case Step::kCheck:
      return hold_check(hold);
    case Step::kEndHold:
      return hold_end(hold);
    case Step::kRestored:
      return job_restored(hold);
    default:
      return verb_of(GuestOrder::kReturn, "");
  }
}

std::string text_of_step(Step step, const SetRequest& request, const SetSteps& steps,
                         const std::string& hold) {
  const std::size_t speaker = request.speaker();
  switch (step) {
    case Step::kClaim:
      return "make " + request.directory +
             ", empty, for its owner alone; note the hold in each hypervisor, and have it save "
             "fast";
    case Step::kSeal:
      return "write " + request.directory + "/" + kSetFile;
    case Step::kDiscard:
      return "delete all files in " + request.directory;
    case Step::kForget:
      return "in each hypervisor put back what was set for that, and delete the note";
    default:
      return "in the guest " + request.machines[speaker].name + ", by " +
             steps.vm(speaker).agent_name() +
             order_text(request.guest, verb_for(step, hold, request.lease), request.timeout);
  }
}

std::string text_of_machine(Action action, const SetRequest& request, const SetSteps& steps) {
  const std::string file =
      request.directory + "/" + ram_file(request.machines[action.machine].name);
  const std::vector<Card>& cards = steps.cards(action.machine);
  const Vm& vm = steps.vm(action.machine);
  switch (action.step) {
    case Step::kUnplug:
      return unplug_text(vm, cards[action.card], request.timeout);
    case Step::kSave:
      return vm.words_for(VmAct::kSave, nullptr, file);
    case Step::kLoad:
      return vm.words_for(VmAct::kLoad, nullptr, file);
    case Step::kPlug:
      return steps.plug_line(vm, cards[action.card]);
    default:
      return vm.words_for(action.step == Step::kHalt ? VmAct::kHalt : VmAct::kGoOn, nullptr, "");
  }
}

/// The plan, one line per phase: "save vm1: stop, ...". `machine` and `steps` have looked.
Lines plan_of_set(const SetCommand& command, const SetRequest& request, const Sequence& machine,
                  const SetSteps& steps) {
  std::string hold = steps.hold().empty() ? "ID" : steps.hold();
  const auto describe = [&](Action action) {
    if (action.step == Step::kClaim) hold = "ID";  // a new one; until then, the killed call's
    return action.of_a_machine() ? text_of_machine(action, request, steps)
                                 : text_of_step(action.step, request, steps, hold);
  };
  const auto goes_well = [](Action) { return Answer{}; };
  const auto whole = machine.clone();
  Lines lines = play(*whole, describe, goes_well);
  const auto failing = machine.clone();
  play(*failing, describe, goes_well, {command.decides});
  if (failing->next().step == Step::kEnd) return lines;
  failing->answer({Outcome::kFailed, kCodeInconsistent});
  return with_failure(std::move(lines), command.if_it_fails, play(*failing, describe, goes_well));
}

/// Only looks, and reports what would be done next.
void plan_set(const SetCommand& command, const SetRequest& request, Sequence& machine,
              SetSteps& steps, Report& report) {
  const Answer looked = steps.perform({Step::kLook});
  machine.answer(looked);
  const Step next = machine.next().step;
  if (next == Step::kEnd) {  // it would refuse, or has nothing to do
    report.end = machine.end();
    return;
  }
  report.plan = plan_of_set(command, request, machine, steps);
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
