// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/restore/restore_vms.cc -- see restore_vms.h.
#include "hypervisor/restore/restore_vms.h"

#include <algorithm>

#include "hypervisor/restore/restore_machine.h"

namespace livebtl::hypervisor {
namespace {

constexpr SetCommand kRestore{"vm restore", Step::kRestored,
                              "if the job says that they do not fit together:"};

/// QEMU has figures only of what it sends, not of what it receives.
bool sends(const MigrationState& state) {
  return state.figures.contains("ram") || state.figures.contains("total-time");
}

Status refused(const std::string& why) { return fail(Errc::kRefused, why); }

/// The steps of set_steps.h that a restore alone takes.
class RestoreSteps : public SetSteps {
 public:
  /// `set`: what is to be restored, with machines as the request has them, in any order.
  RestoreSteps(const SetRequest& request, const SetFile& set, const std::atomic<bool>& stop,
               Progress progress);

  std::string plug_line(const Card& card) const override { return plug_text(card); }

 private:
  Answer look() override;
  Answer look_at(std::size_t machine, Observation& seen, const Deadline& deadline) override;
  Answer perform_own(Action action) override;
  Answer plug_in(Monitor& monitor, const Card& card) override { return plug(monitor, card); }

  Answer verified(Answer seen);
  Status look_at(std::size_t machine, Qmp& qmp, Observation& seen, const Deadline& deadline);
  Status load(std::size_t machine, Qmp& qmp, const Deadline& deadline);

  std::vector<SavedMachine> saved_;  // in the request's order
};

/// The exit code where a set cannot be loaded.
int code_of_load(Errc error) noexcept {
  return error == Errc::kCorrupt ? kCodeInconsistent : code_of(error);
}

RestoreSteps::RestoreSteps(const SetRequest& request, const SetFile& set,
                           const std::atomic<bool>& stop, Progress progress)
    : SetSteps(request, stop, std::move(progress)) {
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

Answer RestoreSteps::perform_own(Action action) {
  switch (action.step) {
    case Step::kLoad:
      return on(
          action.machine,
          [&](Qmp& qmp, const Deadline& until) { return load(action.machine, qmp, until); },
          forward());
    case Step::kGoOn:  // not interrupted; the time that is kept is for stopping them again
      return on(action.machine, wait_running, uninterrupted().at_most(kAfterwards));
    case Step::kRestored:
      return give(job_restored(hold_), budget_.there());
    case Step::kHalt:
      return on(action.machine, wait_stopped, afterwards());
    default:
      return {};
  }
}

Answer RestoreSteps::look() {
  const auto set = directory_.load();
  if (!set) return {Outcome::kFailed, code_of_load(set.error().code), set.error().text};
  Answer seen = look_at_each();
  return seen.ok() ? verified(std::move(seen)) : seen;
}

/// Before any is loaded. What an earlier call has loaded was verified then, and leases may run.
Answer RestoreSteps::verified(Answer seen) {
  for (std::size_t i = 0; i < saved_.size(); ++i) {
    if (seen.seen[i].loaded) continue;
    progress_("verify " + saved_[i].name);
    const auto whole = directory_.verify(saved_[i], forward().stop);
    if (whole) continue;
    if (whole.error().code == Errc::kCancelled)
      return {Outcome::kInterrupted, kCodeInterrupted, whole.error().text};
    return {Outcome::kFailed, code_of_load(whole.error().code), whole.error().text};
  }
  return seen;
}

Answer RestoreSteps::look_at(std::size_t machine, Observation& seen, const Deadline& deadline) {
  bool refuses = false;
  const auto act = [&](Qmp& qmp, const Deadline& until) {
    auto looked = look_at(machine, qmp, seen, until);
    refuses = !looked && looked.error().code == Errc::kRefused;
    return looked;
  };
  Answer answer = on(machine, act, deadline);
  if (refuses) answer.code = kCodeRefused;
  return answer;
}

/// QEMU itself knows how far an earlier call has come.
Status RestoreSteps::look_at(std::size_t machine, Qmp& qmp, Observation& seen,
                             const Deadline& deadline) {
  const auto state = run_state(qmp, deadline);
  if (!state) return tl::unexpected(state.error());
  const auto migration = ask_migration(qmp, deadline);
  if (!migration) return tl::unexpected(migration.error());
  const bool waits = *state == "inmigrate";
  seen.loaded = !waits && migration->migration == Migration::kCompleted && !sends(*migration);
  seen.running = seen.loaded && *state == "running";
  if (!waits && !seen.loaded)
    return refused("this QEMU does not wait for a guest, but is '" + one_line(*state) +
                   "'; start it with -incoming defer -S");
  for (const Card& card : machines_[machine].cards) {
    const auto plugged = is_plugged(qmp, card.id, deadline);
    if (!plugged) return tl::unexpected(plugged.error());
    if (*plugged && !seen.loaded)
      return refused("the guest was saved without " + card.id +
                     ": start this QEMU without it; it is plugged in afterwards");
    seen.plugged.push_back(*plugged);
  }
  return {};
}

Status RestoreSteps::load(std::size_t machine, Qmp& qmp, const Deadline& deadline) {
  auto state = ask_migration(qmp, deadline);
  if (!state) return tl::unexpected(state.error());
  if (state->migration == Migration::kNone) {
    if (auto set = set_capabilities(qmp, false, deadline); !set) return set;
    const auto file = directory_.open_ram(saved_[machine]);
    if (!file) return tl::unexpected(file.error());
    if (auto given = qmp.give_descriptor(kStateDescriptor, *file, deadline); !given) return given;
    auto begun = qmp.tell("migrate-incoming", {{"uri", kStateUri}}, deadline);
    if (!begun) return begun;
  }
  const auto progress = [&](const std::string&) {
    progress_("load " + request_.machines[machine].name);
  };
  auto followed = follow_migration(qmp, deadline, progress, *state);
  if (!followed && followed.error().code == Errc::kDown)
    return fail(Errc::kDown, "QEMU has ended (" + followed.error().text +
                                 "): is it the same machine as the one that was saved? Its "
                                 "standard error says more");
  if (!followed) return followed;
  if (state->migration == Migration::kCompleted) return {};
  return refused(state->why);
}

}  // namespace

Report restore_vms(SetRequest request, const std::atomic<bool>& stop, const Progress& progress) {
  const auto set = SetDirectory(request.directory, request.names()).load();
  if (!set) {
    Report report = empty_report(kRestore, request);
    report.end = {code_of_load(set.error().code), set.error().text};
    return report;
  }
  for (const SavedMachine& saved : set->machines) {
    for (MachinePlace& place : request.machines) {
      if (place.name != saved.name) continue;
      for (const Json& card : saved.cards) place.cards.push_back(text_member(card, "id"));
    }
  }
  RestoreSteps steps(request, *set, stop, progress);
  RestoreMachine machine(request.machine_names());
  return run_set(kRestore, request, machine, steps, stop, progress);
}

}  // namespace livebtl::hypervisor
