// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/restore/restore_steps.cc -- see restore_steps.h.
#include "hypervisor/restore/restore_steps.h"

#include <algorithm>

namespace livebtl::hypervisor {
namespace {

/// QEMU has figures of what it sends alone, not of what it is sent.
bool sends(const MigrationState& state) {
  return state.figures.contains("ram") || state.figures.contains("total-time");
}

Status refused(const std::string& why) { return fail(Errc::kRefused, why); }

}  // namespace

RestoreSteps::RestoreSteps(const SetRequest& request, const SetFile& set,
                           const std::atomic<bool>& stop, Say say)
    : SetSteps(request, stop, std::move(say)) {
  hold_ = set.hold;
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    const auto& name = request.machines[i].name;
    const auto saved =
        std::find_if(set.machines.begin(), set.machines.end(),
                     [&name](const SavedMachine& each) { return each.name == name; });
    saved_.push_back(saved == set.machines.end() ? SavedMachine{name, 0, {}} : *saved);
    for (const Json& arguments : saved_.back().cards)
      machines_[i].cards.push_back({text_member(arguments, "id"), false, arguments});
  }
}

SetAnswer RestoreSteps::perform_own(SetAction action) {
  switch (action.what) {
    case SetDo::kLoad:
      return load(action.machine);
    case SetDo::kGoOn:
      return go_on(action.machine);
    case SetDo::kRestored:
      return give(job_restored(hold_));
    case SetDo::kHalt:
      return on(
          action.machine, [this](Qmp& qmp) { return wait_stopped(qmp, afterwards()); },
          afterwards());
    default:
      return {};
  }
}

SetAnswer RestoreSteps::look() {
  const Patience patience = forward().at_most(kLookMax);
  SetAnswer answer;
  if (const auto set = directory_.load(); !set) {
    answer = set_answer_of(set.error());
    answer.code = code_of_load(set.error().code);
    return answer;
  }
  answer.seen.resize(machines_.size());
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    bool no = false;
    SetAnswer went = on(
        i,
        [&](Qmp& qmp) {
          auto looked = look_at(i, qmp, answer.seen[i], patience);
          no = !looked && looked.error().code == Errc::kRefused;
          return looked;
        },
        patience);
    if (went.went == Went::kWell) continue;
    if (no) went.code = kCodeRefused;
    went.text = request_.machines[i].name + ": " + went.text;
    return went;
  }
  return answer;
}

/// How far a call before this one has come QEMU knows itself.
Status RestoreSteps::look_at(std::size_t machine, Qmp& qmp, MachineSeen& seen,
                             const Patience& patience) {
  const auto state = run_state(qmp, patience);
  if (!state) return tl::unexpected(state.error());
  const auto migration = ask_migration(qmp, patience);
  if (!migration) return tl::unexpected(migration.error());
  const bool waits = *state == "inmigrate";
  seen.loaded = !waits && migration->migration == Migration::kCompleted && !sends(*migration);
  seen.running = seen.loaded && *state == "running";
  if (!waits && !seen.loaded)
    return refused("this QEMU does not wait for a guest, but is '" + one_line(*state) +
                   "'; start it with -incoming defer -S");
  for (const Card& card : machines_[machine].cards) {
    const auto plugged = is_plugged(qmp, card.id, patience);
    if (!plugged) return tl::unexpected(plugged.error());
    if (*plugged && !seen.loaded)
      return refused("the guest was saved without " + card.id +
                     ": start this QEMU without it; it is plugged in afterwards");
    seen.plugged.push_back(*plugged);
  }
  return {};
}

SetAnswer RestoreSteps::load(std::size_t machine) {
  const Patience patience = forward();
  return on(
      machine, [&](Qmp& qmp) { return load(machine, qmp, patience); }, patience);
}

Status RestoreSteps::load(std::size_t machine, Qmp& qmp, const Patience& patience) {
  auto state = ask_migration(qmp, patience);
  if (!state) return tl::unexpected(state.error());
  if (state->migration == Migration::kNone) {
    if (auto set = set_capabilities(qmp, false, patience); !set) return set;
    const auto file = directory_.open_ram(saved_[machine]);
    if (!file) return tl::unexpected(file.error());
    if (auto given = qmp.give_descriptor(kStateDescriptor, *file, patience); !given) return given;
    const auto begun = qmp.execute("migrate-incoming", {{"uri", kStateUri}}, patience);
    if (!begun) return tl::unexpected(begun.error());
  }
  const auto say = [&](const std::string&) { say_("load " + request_.machines[machine].name); };
  auto followed = follow_migration(qmp, patience, say, *state);
  if (!followed && followed.error().code == Errc::kDown)
    return fail(Errc::kDown, "QEMU has ended (" + followed.error().text +
                                 "): is it the same machine as the one that was saved? Its "
                                 "standard error says more");
  if (!followed) return followed;
  if (state->migration == Migration::kCompleted) return {};
  return refused(state->why);
}

/// Not to be interrupted; and what is kept of the time is for those that must not go on after all.
SetAnswer RestoreSteps::go_on(std::size_t machine) {
  const Patience patience = uninterrupted().at_most(kAfterwards);
  return on(
      machine, [&](Qmp& qmp) { return wait_running(qmp, patience); }, patience);
}

Status RestoreSteps::plug(Qmp& qmp, const Card& card) { return plug_card(qmp, card, plugging()); }

}  // namespace livebtl::hypervisor
