// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/snapshot/snapshot_steps.cc -- see snapshot_steps.h.
#include "hypervisor/snapshot/snapshot_steps.h"

#include <array>
#include <ctime>

#include "base/hex.h"
#include "base/secret.h"

namespace livebtl::hypervisor {
namespace {

std::string drawn_hold() { return hex_id(random_u64() | 1); }

std::string time_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

}  // namespace

Answer SnapshotSteps::perform_own(Action action) {
  switch (action.step) {
    case Step::kClaim:
      return claim();
    case Step::kPrepare:
      return order(GuestOrder::kPrepare);
    case Step::kUnplug:
      return unplug(action);
    case Step::kHold:
      return give(hold_start(hold_, request_.lease), budget_.there());
    case Step::kRenew:
      return give(hold_renew(hold_, request_.lease), budget_.there());
    case Step::kSave:
      return save(action.machine);
    case Step::kGoOn:
      return go_on(action);
    case Step::kCheck:
      return check(action.back);
    case Step::kEndHold:
      return end_hold(action.back);
    case Step::kSeal:
      return seal();
    case Step::kDiscard:
      return answer_of(directory_.discard());
    case Step::kForget:
      return forget();
    default:
      return {};
  }
}

/// Normally the check begins the way back; as a step of the way back, nothing depends on its
/// answer.
Answer SnapshotSteps::check(bool back) {
  const TimeNs now = monotonic_now();
  const TimeNs brief = budget_.diagnosis(now);
  return back ? give(hold_check(hold_), brief, brief)
              : give(hold_check(hold_), budget_.afterwards(now));
}

// The way there

Answer SnapshotSteps::claim() {
  const Deadline deadline = forward().at_most(kLookMax);
  if (const auto made = directory_.prepare(); !made) return answer_of(made.error());
  hold_ = drawn_hold();
  for (const Machine& each : machines_) {
    if (auto claimed = claim(*each.vm, deadline); !claimed) return answer_of(claimed.error());
  }
  return {};
}

Status SnapshotSteps::claim(Vm& vm, const Deadline& deadline) {
  const Json note = {{"hold", hold_}};
  if (auto kept = vm.keep_note(kHoldNote, note.dump(), deadline); !kept) return kept;
  return vm.prepare_saves(deadline);
}

Answer SnapshotSteps::unplug(Action action) {
  Machine& machine = machines_[action.machine];
  const bool speaks = request_.hypervisor->has_agent(request_.machines[action.machine].place);
  return unplug(*machine.vm, machine.cards[action.card], speaks ? &machine.vm->agent() : nullptr);
}

Answer SnapshotSteps::save(std::size_t machine) {
  Answer answer = answer_of(save(machine, forward().at_most(request_.lease - kLeaseMargin)));
  if (answer.outcome == Outcome::kTimeout)
    answer.text =
        "saving it took too long: --lease must be longer than the saving of one machine takes, and "
        "--timeout longer than the whole command";
  return answer;
}

Status SnapshotSteps::save(std::size_t machine, const Deadline& deadline) {
  const std::string& name = request_.machines[machine].name;
  auto file = directory_.create(name);
  if (!file) return tl::unexpected(file.error());
  const auto progress = [&](const std::string& text) { progress_(name + ": " + text); };
  return machines_[machine].vm->save({std::move(*file), directory_.ram_path(name)},
                                     machines_[machine].cards, progress, deadline);
}

// The way back. go_on and end_hold are also steps of the way there, where they do not use the time
// that is kept for the way back.

Answer SnapshotSteps::go_on(Action action) {
  const Deadline deadline = action.back ? afterwards() : uninterrupted().at_most(kAfterwards);
  Vm& vm = *machines_[action.machine].vm;
  const Status ended = vm.give_up_save(deadline);
  return answer_of(ended ? vm.go_on(deadline) : ended);
}

/// A hold that was broken or is already over counts as ended: the check says whether it was good.
Answer SnapshotSteps::end_hold(bool back) {
  const TimeNs limit = back ? budget_.afterwards(monotonic_now()) : budget_.there();
  const auto said = give_verb(agent(), request_.guest, hold_end(hold_), tries_until(limit, false));
  const bool ended = said && (said->code == kCodeInconsistent || said->no_job);
  Answer answer = ended ? Answer{} : read(said);
  hold_open_ = !answer.ok();
  if (hold_open_)
    answer.text = "the job may be held until its lease is over; in the guest " + speaker_name() +
                  ": btlctl hold end --id " + hold_ + " (" + answer.text + ")";
  return answer;
}

Answer SnapshotSteps::seal() {
  SetFile set{hold_, time_text(), members_, {}};
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    SavedMachine saved{request_.machines[i].name, 0, {}};
    for (const Card& card : machines_[i].cards) saved.cards.push_back(card.arguments);
    set.machines.push_back(std::move(saved));
  }
  return answer_of(directory_.seal(std::move(set)));
}

/// The hypervisor need not know what is left for the user to do. But the note of a hold that could
/// not be ended is kept, so that the next call finds its id and ends it.
Answer SnapshotSteps::forget() {
  Answer all;
  for (const Machine& each : machines_) {
    Status forgotten = each.vm->settle_saves(afterwards());
    if (forgotten && !hold_open_) forgotten = each.vm->drop_note(kHoldNote, afterwards());
    if (!forgotten) all = answer_of(forgotten);
  }
  return all;
}

}  // namespace livebtl::hypervisor
