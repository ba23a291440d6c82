// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/migrate/migrate_plan.cc -- the plan of a migration: what the machine of
// migrate_machine.h decides if all goes well, and if the migration fails. Run by btlctl's one
// thread; owns nothing.
#include "hypervisor/migrate/migrate_vm.h"
#include "hypervisor/plan/report.h"

namespace livebtl::hypervisor {
namespace {

std::string begin_text(const MigrateRequest& request, const std::vector<Card>& cards) {
  std::string text;
  for (const Card& card : cards) {
    if (const std::string memory = shared_memory_of(card); !memory.empty())
      text += "object-del " + memory + ", the memory of " + card.id + "; ";
  }
  return text + "migrate " + request.to;
}

std::string text_of_card(Action action, const Card& card, TimeNs timeout) {
  if (action.step == Step::kUnplug) return unplug_text(card, timeout);
  return action.step == Step::kPlug ? plug_again_text(card) : "there: " + plug_text(card);
}

std::string text_of(Action action, const MigrateRequest& request, const std::vector<Card>& cards,
                    const std::string& node) {
  const auto ordered = [&](const std::string& agent, GuestOrder order) {
    return "in the guest, by " + agent +
           order_text(request.guest, verb_of(order, node), request.timeout);
  };
  if (action.of_a_card()) return text_of_card(action, cards[action.card], request.timeout);
  switch (action.step) {
    case Step::kPrepare:
      return ordered(request.agent, GuestOrder::kPrepare);
    case Step::kBegin:
      return begin_text(request, cards);
    case Step::kMigrate:
      return "follow it until it is completed";
    case Step::kLookBack:
      return "ask QEMU which cards are gone";
    case Step::kGoOn:
      return "cont";
    case Step::kReturn:
      return ordered(request.agent, GuestOrder::kReturn);
    case Step::kArrive:
      return "at the destination, by " + request.destination_qmp + ": cont, if it is paused";
    case Step::kReturnThere:
      return ordered(request.destination_agent, GuestOrder::kReturn);
    default:  // in no plan
      return "";
  }
}

/// `looked`: the answer to each look, on the way back too.
Answer expected(Action action, const Answer& looked) {
  if (action.step == Step::kLookBack) return looked;
  Answer answer;
  if (action.step == Step::kMigrate) answer.seen = {{.migration = Migration::kCompleted}};
  return answer;
}

}  // namespace

Lines plan_of(const MigrateRequest& request, const Answer& looked, const std::vector<Card>& cards,
              const std::string& node) {
  const auto describe = [&](Action action) { return text_of(action, request, cards, node); };
  const auto expect = [&](Action action) { return expected(action, looked); };
  MigrateMachine machine(request.cards, request.has_destination());
  machine.answer(looked);
  MigrateMachine failing = machine;
  Lines plan = play(machine, describe, expect);

  // The way back from a migration that fails, whose cards are all gone by then.
  play(failing, describe, expect, {Step::kBegin, Step::kMigrate});
  Answer failed;
  if (failing.next().step == Step::kBegin) failed.outcome = Outcome::kFailed;
  failed.seen = {{.migration = Migration::kFailed}};
  failing.answer(failed);
  Answer gone;
  gone.seen = {{.running = true, .plugged = std::vector<bool>(cards.size(), false)}};
  const Lines back = play(failing, describe, [&](Action action) { return expected(action, gone); });
  if (back.empty()) return plan;
  return with_failure(std::move(plan),
                      "if anything fails before the migration is completed:", back);
}

}  // namespace livebtl::hypervisor
