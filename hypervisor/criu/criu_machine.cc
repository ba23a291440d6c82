// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/criu_machine.cc -- see criu_machine.h.
#include "hypervisor/criu/criu_machine.h"

#include <utility>

namespace livebtl::hypervisor {

void DumpMachine::interrupt() {
  if (back_ || decided_ || next_.step == Step::kEnd) return;
  go_back(kCodeInterrupted, "interrupted");
}

void DumpMachine::answer(const Answer& answer) {
  if (back_) {
    if (!answer.ok()) leave(answer);
    return next_back();
  }
  if (answer.ok()) return forward();
  decided_ ? failed_after_dump(answer) : failed(answer);
}

void DumpMachine::forward() {
  note_work();
  const auto to = [this](Step step) { next_ = {step}; };
  switch (next_.step) {
    case Step::kLook:
      return to(Step::kClaim);
    case Step::kClaim:
      return to(Step::kPrepare);
    case Step::kPrepare:
      return to(Step::kHold);
    case Step::kHold:
      return to(Step::kSave);
    case Step::kSave:
      decided_ = !goes_on_;
      return to(goes_on_ ? Step::kCheck : Step::kSeal);
    case Step::kCheck:
      return to(Step::kSeal);
    case Step::kSeal:
      decided_ = true;
      if (goes_on_) return to(Step::kEndHold);
      return finish(kCodeDone, "the job is dumped, and its processes are ended");
    case Step::kEndHold:
      return to(Step::kReturn);
    default:
      if (end_.left.empty()) return finish(kCodeDone, "the job is dumped, and runs on");
      finish(kCodeNotReturned, "the job is dumped, and runs on, but not as before");
  }
}

/// Notes what the way back has to undo of the step that was just taken.
void DumpMachine::note_work() {
  prepared_ = prepared_ || next_.step == Step::kPrepare;
  held_ = held_ || next_.step == Step::kHold;
  claimed_ = claimed_ || next_.step == Step::kClaim;
}

void DumpMachine::failed(const Answer& answer) {
  note_work();  // a failed step may have done its work all the same
  const bool by_user = answer.outcome == Outcome::kInterrupted;
  go_back(by_user ? kCodeInterrupted : answer.code, answer.text);
}

void DumpMachine::failed_after_dump(const Answer& answer) {
  leave(answer);
  if (next_.step == Step::kEndHold) {
    next_ = {Step::kReturn};
    return;
  }
  finish(kCodeNotReturned,
         goes_on_ ? "the job is dumped, and runs on, but not as before"
                  : "the processes are dumped and ended, but the set could not be sealed");
}

void DumpMachine::go_back(int code, std::string text) {
  back_ = true;
  end_.code = code;
  end_.text = std::move(text);
  next_back();
}

void DumpMachine::next_back() {
  if (std::exchange(held_, false)) {
    next_ = {Step::kEndHold, 0, 0, true};
  } else if (std::exchange(prepared_, false)) {
    next_ = {Step::kReturn, 0, 0, true};
  } else if (std::exchange(claimed_, false)) {
    next_ = {Step::kDiscard, 0, 0, true};
  } else {
    const char* const state = end_.left.empty() ? "; the job runs on as it did, and there is no set"
                                                : "; there is no set";
    finish(end_.code, end_.text + state);
  }
}

void RestartMachine::interrupt() {
  if (next_.step == Step::kLook || next_.step == Step::kLoad)
    finish(kCodeInterrupted, "interrupted; no process of the set runs");
}

void RestartMachine::answer(const Answer& answer) {
  switch (next_.step) {
    case Step::kLook:
      next_ = {Step::kLoad};
      if (!answer.ok()) finish(answer.code, answer.text);
      return;
    case Step::kLoad:
      next_ = {Step::kRestored};
      if (!answer.ok()) finish(answer.code, answer.text);
      return;
    case Step::kRestored:
      next_ = {Step::kReturn};
      if (answer.ok()) return;
      end_.code = answer.code;
      end_.text = answer.text;
      next_ = {Step::kHalt};
      return;
    case Step::kHalt:
      if (!answer.ok()) leave(answer);
      return finish(end_.code, end_.text + (answer.ok() ? "; its processes are ended again"
                                                        : "; not all of its processes are ended"));
    default:
      if (answer.ok()) return finish(kCodeDone, "the job is restored, and runs on");
      leave(answer);
      finish(kCodeNotReturned, "the job is restored, and runs on, but not over what it had");
  }
}

}  // namespace livebtl::hypervisor
