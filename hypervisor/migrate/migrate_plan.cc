// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/migrate/migrate_plan.cc -- the plan of a migration: what the machine of
// migrate_machine.h decides if all goes well, and if it fails. Run by btlctl's one thread; owns
// nothing.
#include <algorithm>

#include "hypervisor/migrate/migrate_vm.h"

namespace livebtl::hypervisor {
namespace {

struct Planned {
  const MigrateRequest& request;
  const std::vector<Card>& cards;
  const std::string& node;

  std::string order(const std::string& agent, GuestOrder order) const;
  std::string begin() const;
  std::string text(Action action) const;
  std::string line(Action action) const;
};

std::string Planned::order(const std::string& agent, GuestOrder order) const {
  std::string text = "in the guest, by " + agent + ":";
  for (const std::string& word :
       words_of(request.guest, verb_of(order, node),
                std::min(Budget::way_there(request.timeout), kPrepareMax)))
    text += " " + word;
  return text;
}

std::string Planned::begin() const {
  std::string text;
  for (const Card& card : cards) {
    if (const std::string memory = shared_memory_of(card); !memory.empty())
      text += "object-del " + memory + ", the memory of " + card.id + "; ";
  }
  return text + "migrate " + request.to;
}

std::string Planned::text(Action action) const {
  switch (action.what) {
    case Do::kPrepare:
      return order(request.agent, GuestOrder::kPrepare);
    case Do::kUnplug:
      return "device_del " + cards[action.card].id + ", and wait up to " +
             std::to_string(std::min(Budget::way_there(request.timeout), kUnplugMax) / kSecond) +
             " s for DEVICE_DELETED";
    case Do::kMigrate:
      return begin();
    case Do::kFollow:
      return "follow it until it is completed";
    case Do::kLookBack:
      return "ask QEMU which cards are gone";
    case Do::kGoOn:
      return "cont";
    case Do::kPlug:
      return plug_again_text(cards[action.card]);
    case Do::kReturn:
      return order(request.agent, GuestOrder::kReturn);
    case Do::kArrive:
      return "at the destination, by " + request.destination_qmp + ": cont, if it is paused";
    case Do::kPlugThere:
      return "there: " + plug_text(cards[action.card]);
    case Do::kReturnThere:
      return order(request.destination_agent, GuestOrder::kReturn);
    default:  // not if all goes well, nor if a migration merely fails
      return "";
  }
}

std::string Planned::line(Action action) const {
  const std::string card = card_of(request, action);
  return std::string(name_of(action.what)) + (card.empty() ? "" : " " + card) + ": " + text(action);
}

/// Who looks sees that.
Answer well(Do what, const Answer& seen) {
  if (what == Do::kLookBack) return seen;
  Answer answer;
  answer.seen.running = true;
  if (what == Do::kFollow) answer.seen.migration = Migration::kCompleted;
  return answer;
}

/// The way back from a migration that fails, whose cards are all gone by then.
std::vector<std::string> back(MigrateMachine machine, const Planned& planned, const Answer& seen) {
  const auto next = [&machine] { return machine.next().what; };
  while (next() != Do::kMigrate && next() != Do::kFollow && next() != Do::kEnd)
    machine.answer(well(next(), seen));
  Answer failed;
  failed.went = next() == Do::kMigrate ? Went::kFailed : Went::kWell;
  failed.seen.migration = Migration::kFailed;
  machine.answer(failed);
  Answer gone;
  gone.seen.running = true;
  gone.seen.plugged.assign(planned.cards.size(), false);
  std::vector<std::string> lines;
  while (next() != Do::kEnd) {
    lines.push_back("  " + planned.line(machine.next()));
    machine.answer(well(next(), gone));
  }
  return lines;
}

}  // namespace

std::vector<std::string> plan_of(const MigrateRequest& request, const Answer& seen,
                                 const std::vector<Card>& cards, const std::string& node) {
  const Planned planned{request, cards, node};
  MigrateMachine machine(request.cards, request.has_destination());
  machine.answer(seen);
  const std::vector<std::string> way_back = back(machine, planned, seen);
  std::vector<std::string> plan;
  while (machine.next().what != Do::kEnd) {
    const Action action = machine.next();
    plan.push_back(planned.line(action));
    machine.answer(well(action.what, seen));
  }
  if (way_back.empty()) return plan;
  plan.emplace_back("if anything fails before the migration is completed:");
  plan.insert(plan.end(), way_back.begin(), way_back.end());
  return plan;
}

}  // namespace livebtl::hypervisor
