// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/qmp_vm.cc -- see qmp_vm.h: questions to a machine, and its cards.
#include "hypervisor/qmp/qmp_vm.h"

#include "hypervisor/qmp/card.h"
#include "hypervisor/qmp/migration.h"
#include "hypervisor/qmp/note.h"

namespace livebtl::hypervisor {
namespace {

/// QEMU has figures only of what it sends, not of what it receives.
bool sends(const MigrationState& state) {
  return state.figures.contains("ram") || state.figures.contains("total-time");
}

VmState state_of(std::string word, MigrationState migration) {
  VmState seen;
  seen.running = word == "running";
  seen.sent = word == "postmigrate";
  seen.waits = word == "inmigrate";
  seen.received = !seen.waits && migration.migration == Migration::kCompleted && !sends(migration);
  // If a guest goes on after a migration (to a file, say), QEMU still shows it as completed. A
  // guest whose migration has just completed is in finish-migrate for a moment.
  if (migration.migration == Migration::kCompleted && !seen.sent && word != "finish-migrate")
    migration.migration = Migration::kNone;
  seen.word = std::move(word);
  seen.migration = std::move(migration);
  return seen;
}

/// Both answers are of one moment if the guest's state is the same before and after.
Result<VmState> look_at(Qmp& qmp, const Deadline& deadline) {
  auto state = run_state(qmp, deadline);
  for (;;) {
    if (!state) return tl::unexpected(state.error());
    auto migration = ask_migration(qmp, deadline);
    if (!migration) return tl::unexpected(migration.error());
    auto after = run_state(qmp, deadline);
    if (!after) return tl::unexpected(after.error());
    if (*after == *state) return state_of(std::move(*state), std::move(*migration));
    state = std::move(after);
  }
}

Status no_writable_disk(Qmp& qmp, const Deadline& deadline) {
  const auto blocks = qmp.execute("query-block", Json::object(), deadline);
  if (!blocks) return tl::unexpected(blocks.error());
  if (!blocks->is_array()) return fail(Errc::kCorrupt, "QEMU gives no list of its disks");
  for (const Json& block : *blocks) {
    const Json* medium = member(block, "inserted", Json::value_t::object);
    const Json* fixed = medium == nullptr ? nullptr : member(*medium, "ro", Json::value_t::boolean);
    if (medium == nullptr || (fixed != nullptr && fixed->get<bool>())) continue;
    std::string name = text_member(block, "device");
    if (name.empty()) name = text_member(block, "qdev");
    return fail(Errc::kRefused, one_line(name));
  }
  return {};
}

}  // namespace

Result<VmState> QmpVm::look(const Deadline& deadline) { return ask(look_at, deadline); }

Status QmpVm::look_ready(const Deadline& deadline) {
  const auto there = ask(run_state, deadline);
  if (!there) return tl::unexpected(there.error());
  if (*there == "inmigrate") return {};
  return fail(Errc::kRefused, path_ +
                                  ": this QEMU does not wait for a guest (-incoming), but is '" +
                                  one_line(*there) + "'");
}

Status QmpVm::look_at_disks(const Deadline& deadline) { return act(no_writable_disk, deadline); }

Status QmpVm::keep_note(const std::string& name, const std::string& text,
                        const Deadline& deadline) {
  return act([&](Qmp& qmp,
                 const Deadline& until) { return hypervisor::keep_note(qmp, name, text, until); },
             deadline);
}

Result<std::string> QmpVm::read_note(const std::string& name, const Deadline& deadline) {
  return ask(
      [&](Qmp& qmp, const Deadline& until) { return hypervisor::read_note(qmp, name, until); },
      deadline);
}

Status QmpVm::drop_note(const std::string& name, const Deadline& deadline) {
  return act([&](Qmp& qmp, const Deadline& until) { return delete_object(qmp, name, until); },
             deadline);
}

Result<Card> QmpVm::find_card(const std::string& id, const Json& given, const char* hint,
                              const Deadline& deadline) {
  return ask(
      [&](Qmp& qmp, const Deadline& until) { return find_known_card(qmp, id, given, hint, until); },
      deadline);
}

Result<bool> QmpVm::is_plugged(const Card& card, const Deadline& deadline) {
  return ask(
      [&](Qmp& qmp, const Deadline& until) { return hypervisor::is_plugged(qmp, card.id, until); },
      deadline);
}

Result<bool> QmpVm::was_pulled(const Card& card, const Deadline& deadline) {
  return ask(
      [&](Qmp& qmp, const Deadline& until) { return hypervisor::was_pulled(qmp, card.id, until); },
      deadline);
}

Status QmpVm::pull_card(const Card& card, const Deadline& deadline) {
  return act(
      [&](Qmp& qmp, const Deadline& until) { return hypervisor::pull_card(qmp, card, until); },
      deadline);
}

Status QmpVm::plug_card(const Card& card, const Deadline& deadline) {
  return act(
      [&](Qmp& qmp, const Deadline& until) { return hypervisor::plug_card(qmp, card, until); },
      deadline);
}

Status QmpVm::plug_card_again(const Card& card, const Deadline& deadline) {
  return act([&](Qmp& qmp,
                 const Deadline& until) { return hypervisor::plug_card_again(qmp, card, until); },
             deadline);
}

Status QmpVm::forget_card(const Card& card, const Deadline& deadline) {
  return act(
      [&](Qmp& qmp, const Deadline& until) { return hypervisor::forget_card(qmp, card.id, until); },
      deadline);
}

std::string QmpVm::begin_words(const std::string& to, const std::vector<Card>& cards) const {
  std::string text;
  for (const Card& card : cards) {
    if (const std::string memory = shared_memory_of(card); !memory.empty())
      text += "object-del " + memory + ", the memory of " + card.id + "; ";
  }
  return text + "migrate " + to;
}

std::string QmpVm::words_for(VmAct what, const Card* card, const std::string& where) const {
  switch (what) {
    case VmAct::kUnplug:
      return "device_del " + card->id;
    case VmAct::kPlug:
      return plug_text(*card);
    case VmAct::kPlugAgain:
      return plug_again_text(*card);
    case VmAct::kSave:
      return "stop, migrate to " + where;
    case VmAct::kLoad:
      return "migrate-incoming from " + where;
    case VmAct::kHalt:
      return "stop";
    case VmAct::kGoOn:
      break;
  }
  return "cont";
}

}  // namespace livebtl::hypervisor
