// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/snapshot/snapshot_machine.cc -- see snapshot_machine.h.
#include "hypervisor/snapshot/snapshot_machine.h"

#include <algorithm>

namespace livebtl::hypervisor {
namespace {

constexpr const char* kMade = "the machines are snapshot, and fit together";
constexpr const char* kMadeBefore = "this set is whole already";
constexpr const char* kStill =
    " does not run, so its job cannot be held; let it go on (cont), and call again";
constexpr const char* kSent =
    " was migrated or saved by somebody else, and does not run here: if it runs elsewhere it must "
    "not go on here as well, so name the QEMU that it runs in; only if it was merely saved let it "
    "go on (cont), and call again";

}  // namespace

SnapshotMachine::SnapshotMachine(std::vector<MachineNames> machines)
    : machines_(std::move(machines)), stopped_(machines_.size(), false) {
  for (const MachineNames& machine : machines_) gone_.emplace_back(machine.cards.size(), false);
}

bool SnapshotMachine::has_cards() const noexcept {
  return std::any_of(machines_.begin(), machines_.end(),
                     [](const MachineNames& machine) { return !machine.cards.empty(); });
}

void SnapshotMachine::finish(int code, std::string text) {
  end_.code = code;
  end_.text = std::move(text);
  next_ = {SetDo::kEnd};
}

void SnapshotMachine::interrupt() {
  if (next_.what == SetDo::kEnd || (back_ && !clearing_)) return;
  if (next_.what == SetDo::kLook || next_.what == SetDo::kClaim)
    return finish(kCodeInterrupted, "interrupted; nothing was changed");
  clearing_ = false;
  go_back(kCodeInterrupted, "interrupted");
}

void SnapshotMachine::answer(const SetAnswer& answer) {
  if (next_.what == SetDo::kLook) return looked(answer);
  if (back_) return undid(answer);
  if (answer.went != Went::kWell) return failed(answer);
  went_well();
}

void SnapshotMachine::looked(const SetAnswer& answer) {
  if (answer.went != Went::kWell) return finish(answer.code, answer.text);
  if (answer.sealed && !answer.repeats)
    return finish(kCodeRefused, answer.text + "; name another directory, or remove that one");
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    const MachineSeen& seen = answer.seen[i];
    claimed_ = claimed_ || seen.claimed;
    stopped_[i] = seen.claimed;  // it may be, or is about to
    for (std::size_t card = 0; card < seen.plugged.size(); ++card)
      gone_[i][card] = !seen.plugged[card];
    if (seen.running || seen.claimed) continue;
    return finish(kCodeRefused, machines_[i].name + (seen.sent ? kSent : kStill));
  }
  sealed_ = good_ = answer.sealed;
  prepared_ = has_cards() && claimed_;
  if (sealed_) return go_back(kCodeDone, kMadeBefore);
  if (!claimed_) {
    next_ = {SetDo::kClaim};
    return;
  }
  clearing_ = held_ = true;
  go_back(kCodeDone, "");
}

// The way there

void SnapshotMachine::went_well() {
  switch (next_.what) {
    case SetDo::kClaim:
      claimed_ = true;
      next_ = {has_cards() ? SetDo::kPrepare : SetDo::kHold};
      return;
    case SetDo::kPrepare:
      prepared_ = true;
      return unplug_from(0, 0);
    case SetDo::kUnplug:
      gone_[next_.machine][next_.card] = true;
      return unplug_from(next_.machine, next_.card + 1);
    case SetDo::kHold:
      held_ = was_held_ = true;
      next_ = {SetDo::kSave, 0};
      return;
    case SetDo::kRenew:
      next_.what = SetDo::kSave;
      return;
    case SetDo::kSave:
      stopped_[next_.machine] = true;
      next_.what = SetDo::kGoOn;
      return;
    case SetDo::kGoOn:
      return saved();
    default:  // kCheck
      good_ = true;
      return go_back(kCodeDone, kMade);
  }
}

void SnapshotMachine::unplug_from(std::size_t machine, std::size_t card) {
  for (; machine < machines_.size(); ++machine, card = 0) {
    while (card < gone_[machine].size() && gone_[machine][card]) ++card;
    if (card == gone_[machine].size()) continue;
    next_ = {SetDo::kUnplug, machine, card};
    return;
  }
  next_ = {SetDo::kHold};
}

/// Each lease begins anew just before its machine is saved: what is left of it counts from then on
/// when that is restored.
void SnapshotMachine::saved() {
  stopped_[next_.machine] = false;
  const std::size_t machine = next_.machine + 1;
  next_ = machine < machines_.size() ? SetAction{SetDo::kRenew, machine} : SetAction{SetDo::kCheck};
}

void SnapshotMachine::failed(const SetAnswer& answer) {
  int code = kCodeTakenBack;
  switch (next_.what) {  // what was asked for and not waited for may have happened
    case SetDo::kClaim:
      claimed_ = true;
      if (answer.code == kCodeNotPermitted) code = answer.code;
      break;
    case SetDo::kUnplug:
      gone_[next_.machine][next_.card] = true;
      break;
    case SetDo::kSave:
      stopped_[next_.machine] = true;
      break;
    case SetDo::kGoOn:
      break;
    default:  // the guest's btlctl has said it
      prepared_ = prepared_ || next_.what == SetDo::kPrepare;
      held_ = held_ || next_.what == SetDo::kHold;
      code = code_undone(answer.code);
  }
  const std::string object = object_of(next_, machines_);
  go_back(answer.went == Went::kInterrupted ? kCodeInterrupted : code,
          (object.empty() ? "" : object + ": ") + answer.text);
}

// The way back

void SnapshotMachine::go_back(int code, const std::string& text) {
  end_.code = code;
  end_.text = text;
  back_ = true;
  go_on_from(0);
}

void SnapshotMachine::go_on_from(std::size_t machine) {
  while (machine < machines_.size() && !stopped_[machine]) ++machine;
  next_ = {SetDo::kGoOn, machine};
  if (machine < machines_.size()) return;
  // A hold whose lease ran out shows first as a step that took too long, or that failed since the
  // job went on.
  next_ = {was_held_ && end_.code == kCodeTakenBack ? SetDo::kCheck : SetDo::kEndHold};
  if (!held_ && !(sealed_ && claimed_)) undo_next();
}

/// On the way back it can only tell why.
void SnapshotMachine::checked_late(const SetAnswer& answer) {
  next_ = {SetDo::kEndHold};
  if (answer.code != kCodeInconsistent) return;
  end_.code = kCodeInconsistent;
  end_.text = "the hold was broken: " + answer.text + "; before that was known: " + end_.text;
}

/// After the hold, and what follows it.
void SnapshotMachine::undo_next() {
  if (next_.what == SetDo::kEndHold) {
    held_ = false;
    if (clearing_) {
      clearing_ = back_ = false;
      next_ = {SetDo::kClaim};
      return;
    }
    next_ = {good_ ? SetDo::kSeal : SetDo::kDiscard};
    if (!sealed_ && (claimed_ || good_)) return;
  }
  if (next_.what == SetDo::kSeal || next_.what == SetDo::kDiscard) return plug_from(0, 0);
  if (next_.what == SetDo::kReturn) {
    next_ = {SetDo::kForget};
    if (claimed_) return;
  }
  over();
}

void SnapshotMachine::plug_from(std::size_t machine, std::size_t card) {
  for (; machine < machines_.size(); ++machine, card = 0) {
    while (card < gone_[machine].size() && !gone_[machine][card]) ++card;
    if (card == gone_[machine].size()) continue;
    next_ = {SetDo::kPlug, machine, card};
    return;
  }
  next_ = {SetDo::kReturn};
  if (!prepared_) undo_next();
}

void SnapshotMachine::undid(const SetAnswer& answer) {
  const SetAction was = next_;
  if (was.what == SetDo::kCheck) return checked_late(answer);
  if (answer.went != Went::kWell && was.what == SetDo::kSeal) {
    good_ = false;
    end_.code = kCodeTakenBack;
    end_.text = answer.text;
    next_ = {SetDo::kDiscard};
    return;
  }
  if (answer.went != Went::kWell) {
    clearing_ = false;  // what is not clear is no ground to begin on
    const std::string object = object_of(was, machines_);
    end_.left.push_back(std::string(name_of(was.what)) + (object.empty() ? "" : " " + object) +
                        ": " + answer.text);
  }
  if (was.what == SetDo::kSeal) sealed_ = true;
  if (was.what == SetDo::kGoOn) return go_on_from(was.machine + 1);
  if (was.what == SetDo::kPlug) return plug_from(was.machine, was.card + 1);
  undo_next();
}

void SnapshotMachine::over() {
  std::string text =
      end_.text.empty() ? "what a call before has left cannot be cleared" : end_.text;
  if (end_.left.empty())
    return finish(end_.code, good_ ? text
                                   : text +
                                         "; taken back: no snapshot is left, and the job "
                                         "runs on");
  if (good_) return finish(kCodeNotReturned, text + "; but not all is as it was before");
  finish(end_.code == kCodeTakenBack || end_.code == kCodeDone ? kCodeUnfinished : end_.code,
         text + "; not all of it could be taken back");
}

}  // namespace livebtl::hypervisor
