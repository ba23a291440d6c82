// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/restore/restore_vms.cc -- see restore_vms.h.
#include "hypervisor/restore/restore_vms.h"

#include <algorithm>

#include "hypervisor/restore/restore_machine.h"

namespace livebtl::hypervisor {
namespace {

constexpr SetCommand kRestore{"vm restore", Step::kRestored,
                              "if the job says that they do not fit together:"};

Status refused(const std::string& why) { return fail(Errc::kRefused, why); }

/// The steps of set_steps.h that only a restore takes.
class RestoreSteps : public SetSteps {
 public:
  /// `set`: what to restore; its machines are those of the request, in any order.
  RestoreSteps(const SetRequest& request, const SetFile& set, const std::atomic<bool>& stop,
               Progress progress);

  std::string plug_line(const Vm& vm, const Card& card) const override {
    return vm.words_for(VmAct::kPlug, &card, "");
  }

 private:
  Answer look() override;
  Answer look_at(std::size_t machine, Observation& seen, const Deadline& deadline) override;
  Answer perform_own(Action action) override;
  Answer plug_in(Vm& vm, const Card& card) override { return plug(vm, card); }

  Answer verified(Answer seen);
  Status inspect(std::size_t machine, Observation& seen, const Deadline& deadline);
  Status load(std::size_t machine, const Deadline& deadline);

  std::vector<SavedMachine> saved_;  // in the request's order
};

/// The exit code when a set cannot be loaded.
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
  Vm& vm = *machines_[action.machine].vm;
  switch (action.step) {
    case Step::kLoad:
      return answer_of(load(action.machine, forward()));
    case Step::kGoOn:  // not interrupted; the time kept back is for stopping the machines again
      return answer_of(vm.go_on(uninterrupted().at_most(kAfterwards)));
    case Step::kRestored:
      return give(job_restored(hold_), budget_.there());
    case Step::kHalt:
      return answer_of(vm.halt(afterwards()));
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

/// Before any is loaded. What an earlier call loaded was verified then, and leases may be running.
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
  const Status inspected = inspect(machine, seen, deadline);
  Answer answer = answer_of(inspected);
  if (!inspected && inspected.error().code == Errc::kRefused) answer.code = kCodeRefused;
  return answer;
}

/// The hypervisor itself knows how far an earlier call got.
Status RestoreSteps::inspect(std::size_t machine, Observation& seen, const Deadline& deadline) {
  Vm& vm = *machines_[machine].vm;
  const auto state = vm.look(deadline);
  if (!state) return tl::unexpected(state.error());
  seen.loaded = state->received;
  seen.running = seen.loaded && state->running;
  if (!state->waits && !seen.loaded) {
    auto ready = vm.look_ready(deadline);
    return ready ? refused("it has just changed what it does; call this command again") : ready;
  }
  for (const Card& card : machines_[machine].cards) {
    const auto plugged = vm.is_plugged(card, deadline);
    if (!plugged) return tl::unexpected(plugged.error());
    if (*plugged && !seen.loaded)
      return refused("the guest was saved without " + card.id +
                     ": start this QEMU without it; it is plugged in afterwards");
    seen.plugged.push_back(*plugged);
  }
  return {};
}

Status RestoreSteps::load(std::size_t machine, const Deadline& deadline) {
  auto file = directory_.open_ram(saved_[machine]);
  if (!file) return tl::unexpected(file.error());
  const std::string& name = request_.machines[machine].name;
  const auto progress = [&](const std::string&) { progress_("load " + name); };
  return machines_[machine].vm->load({std::move(*file), directory_.ram_path(name)}, progress,
                                     deadline);
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
