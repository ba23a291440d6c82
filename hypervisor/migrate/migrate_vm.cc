// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/migrate/migrate_vm.cc -- see migrate_vm.h.
#include "hypervisor/migrate/migrate_vm.h"

namespace livebtl::hypervisor {
namespace {

/// Only looks; what would be done then.
void plan_only(const MigrateRequest& request, MigrateMachine& machine, MigrateSteps& steps,
               Report& report) {
  const Answer looked = steps.perform({Step::kLook});
  machine.answer(looked);
  if (machine.next().step == Step::kEnd && !machine.moved()) {  // it would refuse
    report.end = machine.end();
    return;
  }
  const auto name = steps.guest_name();
  report.plan = plan_of(request, looked, steps.cards(), name ? *name : "NAME");
  report.end.text = "nothing was done";
  if (!name) report.end.left.push_back("the guest's name is not known: " + name.error().text);
  if (looked.seen.front().migration == Migration::kActive)
    report.end.left.emplace_back(
        "a migration is under way already: it would be followed, not begun");
  if (machine.moved())
    report.end.left.emplace_back(
        "the guest has moved already; only steps at the destination are left");
}

/// Those of QEMU's figures that are numbers by these names.
Json figures_json(const Json& figures) {
  Json json = Json::object();
  for (const char* name : {"total-time", "downtime", "setup-time"}) {
    if (const Json* value = member(figures, name, Json::value_t::number_unsigned))
      json[std::string(name) + "-ms"] = *value;
  }
  return json;
}

}  // namespace

Report migrate_vm(const MigrateRequest& request, const std::atomic<bool>& stop,
                  const Progress& progress) {
  Report report{.verb = "vm migrate", .object_key = "card", .dry_run = request.dry_run};
  MigrateMachine machine(request.cards, request.has_destination());
  MigrateSteps steps(request, stop, progress);
  if (request.dry_run) {
    plan_only(request, machine, steps, report);
  } else {
    drive(machine, steps, stop, progress, report);
  }
  Json cards = Json::array();
  for (const Card& card : steps.cards()) cards.push_back(card.arguments);
  report.details = {{"moved", machine.moved() && !request.dry_run},
                    {"cards", std::move(cards)},
                    {"migration", figures_json(steps.figures())}};
  return report;
}

}  // namespace livebtl::hypervisor
