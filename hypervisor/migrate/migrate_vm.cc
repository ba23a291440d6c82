// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/migrate/migrate_vm.cc -- see migrate_vm.h.
#include "hypervisor/migrate/migrate_vm.h"

namespace livebtl::hypervisor {
namespace {

/// Only looks; what it would do then.
void plan_only(const MigrateRequest& request, MigrateSteps& steps, MigrateReport& report) {
  const Answer seen = steps.perform({Do::kLook, 0});
  if (seen.went != Went::kWell) {
    report.end = {seen.code, seen.text, false, {}};
    return;
  }
  MigrateMachine machine(request.cards, request.has_destination());
  machine.answer(seen);
  if (machine.next().what == Do::kEnd && machine.end().code != kCodeDone) {  // it would refuse
    report.end = machine.end();
    return;
  }
  const auto name = steps.guest_name();
  report.plan = plan_of(request, seen, steps.cards(), name ? *name : "NAME");
  report.end.text = "nothing was done";
  if (!name) report.end.left.push_back("the guest's name is not known: " + name.error().text);
  if (seen.seen.migration == Migration::kActive)
    report.end.left.emplace_back("a migration is under way; it would be followed, and not begun");
  if (seen.seen.migration == Migration::kCompleted)
    report.end.left.emplace_back(
        "the guest has moved already; only steps at the destination are left");
}

}  // namespace

std::string card_of(const MigrateRequest& request, Action action) {
  const bool of_a_card =
      action.what == Do::kUnplug || action.what == Do::kPlug || action.what == Do::kPlugThere;
  return of_a_card ? request.cards[action.card] : "";
}

MigrateReport migrate_vm(const MigrateRequest& request, const std::atomic<bool>& stop,
                         const MigrateSteps::Say& say) {
  MigrateReport report;
  report.dry_run = request.dry_run;
  MigrateSteps steps(request, stop, say);
  if (request.dry_run) {
    plan_only(request, steps, report);
  } else {
    MigrateMachine machine(request.cards, request.has_destination());
    while (machine.next().what != Do::kEnd) {
      if (stop.load()) machine.interrupt();
      const Action action = machine.next();
      if (action.what == Do::kEnd) break;
      MigratePhase phase{name_of(action.what), card_of(request, action), false, 0.0, {}};
      say(phase.name + (phase.card.empty() ? "" : " " + phase.card));
      const TimeNs begun = monotonic_now();
      const Answer answer = steps.perform(action);
      phase.milliseconds = static_cast<double>(monotonic_now() - begun) / 1e6;
      phase.well = answer.went == Went::kWell;
      if (!phase.well) phase.text = answer.text;
      report.phases.push_back(std::move(phase));
      machine.answer(answer);
    }
    report.end = machine.end();
  }
  for (const Card& card : steps.cards()) report.cards.push_back(card.arguments);
  report.figures = steps.figures();
  return report;
}

}  // namespace livebtl::hypervisor
