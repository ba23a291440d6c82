// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/migrate/migrate_vm.cc -- see migrate_vm.h.
#include "hypervisor/migrate/migrate_vm.h"

namespace livebtl::hypervisor {
namespace {

std::string text_of_card(Action action, const MigrateSteps& steps, TimeNs timeout) {
  const Card& card = steps.cards()[action.card];
  if (action.step == Step::kUnplug) return unplug_text(steps.source(), card, timeout);
  return action.step == Step::kPlug
             ? steps.source().words_for(VmAct::kPlugAgain, &card, "")
             : "there: " + steps.destination()->words_for(VmAct::kPlug, &card, "");
}

std::string text_of(Action action, const MigrateRequest& request, const MigrateSteps& steps,
                    const std::string& node) {
  const auto ordered = [&](const Vm& vm, GuestOrder order) {
    return "in the guest, by " + vm.agent_name() +
           order_text(request.guest, verb_of(order, node), request.timeout);
  };
  if (action.of_a_card()) return text_of_card(action, steps, request.timeout);
  switch (action.step) {
    case Step::kPrepare:
      return ordered(steps.source(), GuestOrder::kPrepare);
    case Step::kBegin:
      return steps.source().begin_words(request.to, steps.cards());
    case Step::kMigrate:
      return "follow it until it is completed";
    case Step::kLookBack:
      return "ask which cards are gone";
    case Step::kGoOn:
      return steps.source().words_for(VmAct::kGoOn, nullptr, "");
    case Step::kReturn:
      return ordered(steps.source(), GuestOrder::kReturn);
    case Step::kArrive:
      return "at the destination, by " + steps.destination()->name() + ": " +
             steps.destination()->words_for(VmAct::kGoOn, nullptr, "") + ", if it is paused";
    case Step::kReturnThere:
      return ordered(*steps.destination(), GuestOrder::kReturn);
    default:  // in no plan
      return "";
  }
}

/// `looked`: the answer to each look, also on the way back.
Answer expected(Action action, const Answer& looked) {
  if (action.step == Step::kLookBack) return looked;
  Answer answer;
  if (action.step == Step::kMigrate) answer.seen = {{.migration = Migration::kCompleted}};
  return answer;
}

/// Only looks, and reports what would be done next.
void plan_only(const MigrateRequest& request, MigrateMachine& machine, MigrateSteps& steps,
               Report& report) {
  const Answer looked = steps.perform({Step::kLook});
  machine.answer(looked);
  if (machine.next().step == Step::kEnd && !machine.moved()) {  // it would refuse
    report.end = machine.end();
    return;
  }
  const auto name = steps.guest_name();
  report.plan = plan_of(request, looked, steps, name ? *name : "NAME");
  report.end.text = "nothing was done";
  if (!name) report.end.left.push_back("the guest's name is not known: " + name.error().text);
  if (looked.seen.front().migration == Migration::kActive)
    report.end.left.emplace_back(
        "a migration is under way already: it would be followed, not begun");
  if (machine.moved())
    report.end.left.emplace_back(
        "the guest has moved already; only steps at the destination are left");
}

/// The hypervisor's figures of these names, as far as they are numbers.
Json figures_json(const Json& figures) {
  Json json = Json::object();
  for (const char* name : {"total-time", "downtime", "setup-time"}) {
    if (const Json* value = member(figures, name, Json::value_t::number_unsigned))
      json[std::string(name) + "-ms"] = *value;
  }
  return json;
}

}  // namespace

Lines plan_of(const MigrateRequest& request, const Answer& looked, const MigrateSteps& steps,
              const std::string& node) {
  const auto describe = [&](Action action) { return text_of(action, request, steps, node); };
  const auto expect = [&](Action action) { return expected(action, looked); };
  MigrateMachine machine(request.cards, request.has_destination());
  machine.answer(looked);
  MigrateMachine failing = machine;
  Lines plan = play(machine, describe, expect);

  // The way back from a failed migration, by which time all its cards are gone.
  play(failing, describe, expect, {Step::kBegin, Step::kMigrate});
  Answer failed;
  if (failing.next().step == Step::kBegin) failed.outcome = Outcome::kFailed;
  failed.seen = {{.migration = Migration::kFailed}};
  failing.answer(failed);
  Answer gone;
  gone.seen = {{.running = true, .plugged = std::vector<bool>(steps.cards().size(), false)}};
  const Lines back = play(failing, describe, [&](Action action) { return expected(action, gone); });
  if (back.empty()) return plan;
  return with_failure(std::move(plan),
                      "if anything fails before the migration is completed:", back);
}

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
