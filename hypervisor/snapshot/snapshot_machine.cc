// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/snapshot/snapshot_machine.cc -- see snapshot_machine.h.
#include "hypervisor/snapshot/snapshot_machine.h"

namespace livebtl::hypervisor {
namespace {

constexpr const char* kMade = "all machines have been saved, and the set fits together";
constexpr const char* kMadeBefore = "this set is whole already";
constexpr const char* kStill =
    " does not run, so its job cannot be held; let it go on (cont), and call again";
constexpr const char* kSent =
    " was migrated or saved by somebody else, and does not run here: if it runs elsewhere it must "
    "not go on here as well, so name the QEMU that it runs in; only if it was merely saved let it "
    "go on (cont), and call again";

}  // namespace

void SnapshotMachine::interrupt() {
  if (next_.step == Step::kEnd || (back_ && !clearing_)) return;
  // If kClaim comes next, what a killed call claimed or pulled is not all cleared up yet.
  if (next_.step == Step::kLook || (next_.step == Step::kClaim && !claimed_))
    return finish(kCodeInterrupted, "interrupted; nothing was changed");
  clearing_ = false;
  go_back(kCodeInterrupted, "interrupted");
}

void SnapshotMachine::answer(const Answer& answer) {
  if (next_.step == Step::kLook) return looked(answer);
  if (back_) return undid(answer);
  if (!answer.ok()) return failed(answer);
  went_well();
}

void SnapshotMachine::looked(const Answer& answer) {
  if (!answer.ok()) return finish(answer.code, answer.text);
  if (answer.sealed && !answer.repeats)
    return finish(kCodeRefused, answer.text + "; name another directory, or remove that one");
  see_cards(answer);
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    const Observation& seen = answer.seen[i];
    claimed_ = claimed_ || seen.claimed;
    stopped_[i] = seen.claimed;  // it may stand still, or may be about to
    if (seen.running || seen.claimed) continue;
    return finish(kCodeRefused, machines_[i].name + (seen.sent ? kSent : kStill));
  }
  sealed_ = good_ = answer.sealed;
  prepared_ = has_cards() && claimed_;
  if (sealed_) return go_back(kCodeDone, kMadeBefore);
  if (!claimed_) {
    next_ = {Step::kClaim};
    return;
  }
  clearing_ = held_ = true;
  go_back(kCodeDone, "");
}

// The way there

void SnapshotMachine::went_well() {
  switch (next_.step) {
    case Step::kClaim:
      claimed_ = true;
      next_ = {has_cards() ? Step::kPrepare : Step::kHold};
      return;
    case Step::kPrepare:
      prepared_ = true;
      return unplug_from(0, 0);
    case Step::kUnplug:
      plugged_[next_.machine][next_.card] = false;
      return unplug_from(next_.machine, next_.card + 1);
    case Step::kHold:
      held_ = was_held_ = true;
      next_ = {Step::kSave, 0};
      return;
    case Step::kRenew:
      next_.step = Step::kSave;
      return;
    case Step::kSave:
      stopped_[next_.machine] = true;
      next_.step = Step::kGoOn;
      return;
    case Step::kGoOn:
      return saved();
    default:  // kCheck
      good_ = true;
      return go_back(kCodeDone, kMade);
  }
}

void SnapshotMachine::unplug_from(std::size_t machine, std::size_t card) {
  if (!next_card(Step::kUnplug, true, machine, card)) next_ = {Step::kHold};
}

/// The lease is renewed just before each machine is saved: a restored machine has as much of it as
/// was left at that moment.
void SnapshotMachine::saved() {
  stopped_[next_.machine] = false;
  const std::size_t machine = next_.machine + 1;
  next_ = machine < machines_.size() ? Action{Step::kRenew, machine} : Action{Step::kCheck};
}

void SnapshotMachine::failed(const Answer& answer) {
  int code = kCodeTakenBack;
  switch (next_.step) {  // the request may have been carried out although no answer came
    case Step::kClaim:
      claimed_ = true;
      if (answer.code == kCodeNotPermitted) code = answer.code;
      break;
    case Step::kUnplug:
      plugged_[next_.machine][next_.card] = false;
      break;
    case Step::kSave:
      stopped_[next_.machine] = true;
      break;
    case Step::kGoOn:
      break;
    default:  // the guest's btlctl gave the code
      prepared_ = prepared_ || next_.step == Step::kPrepare;
      held_ = held_ || next_.step == Step::kHold;
      code = code_undone(answer.code);
  }
  const std::string of = object();
  go_back(answer.outcome == Outcome::kInterrupted ? kCodeInterrupted : code,
          (of.empty() ? "" : of + ": ") + answer.text);
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
  next_ = {Step::kGoOn, machine};
  if (machine < machines_.size()) return;
  // A hold whose lease has run out shows first as a step that took too long, or that failed because
  // the job went on.
  next_ = {was_held_ && end_.code == kCodeTakenBack ? Step::kCheck : Step::kEndHold};
  if (!held_ && !(sealed_ && claimed_)) undo_next();
}

/// On the way back the check can only tell what went wrong.
void SnapshotMachine::checked_late(const Answer& answer) {
  next_ = {Step::kEndHold};
  if (answer.code != kCodeInconsistent) return;
  end_.code = kCodeInconsistent;
  end_.text = "the hold was broken: " + answer.text + "; before that was known: " + end_.text;
}

/// What comes next after the end of the hold, or after a later step.
void SnapshotMachine::undo_next() {
  if (next_.step == Step::kEndHold) {
    held_ = false;
    if (clearing_) {
      clearing_ = back_ = false;
      stopped_.assign(stopped_.size(), false);  // all went on, else clearing_ would be false
      next_ = {Step::kClaim};
      return;
    }
    next_ = {good_ ? Step::kSeal : Step::kDiscard};
    if (!sealed_ && (claimed_ || good_)) return;
  }
  if (next_.step == Step::kSeal || next_.step == Step::kDiscard) return plug_from(0, 0);
  if (next_.step == Step::kReturn) {
    next_ = {Step::kForget};
    if (claimed_) return;
  }
  over();
}

void SnapshotMachine::plug_from(std::size_t machine, std::size_t card) {
  if (next_card(Step::kPlug, false, machine, card)) return;
  next_ = {Step::kReturn};
  if (!prepared_) undo_next();
}

void SnapshotMachine::undid(const Answer& answer) {
  const Action was = next_;
  if (was.step == Step::kCheck) return checked_late(answer);
  if (!answer.ok() && was.step == Step::kSeal) {
    good_ = false;
    end_.code = kCodeTakenBack;
    end_.text = answer.text;
    next_ = {Step::kDiscard};
    return;
  }
  if (!answer.ok()) {
    clearing_ = false;  // if not all can be cleared up, nothing new is begun
    leave(answer);
  }
  if (was.step == Step::kSeal) sealed_ = true;
  if (was.step == Step::kGoOn) return go_on_from(was.machine + 1);
  if (was.step == Step::kPlug) return plug_from(was.machine, was.card + 1);
  undo_next();
}

void SnapshotMachine::over() {
  std::string text =
      end_.text.empty() ? "what an earlier call has left cannot be cleared up" : end_.text;
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
