// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/restore/restore_machine.cc -- see restore_machine.h.
#include "hypervisor/restore/restore_machine.h"

#include <algorithm>

namespace livebtl::hypervisor {

void RestoreMachine::interrupt() {
  if (next_.step == Step::kLook)
    return finish(kCodeInterrupted, "interrupted; nothing was changed");
  if (next_.step == Step::kLoad)
    finish(kCodeInterrupted,
           "interrupted; no machine runs, and what is loaded stands still: call this command "
           "again, which goes on from there");
}

void RestoreMachine::answer(const Answer& answer) {
  switch (next_.step) {
    case Step::kLook:
      return looked(answer);
    case Step::kLoad:
      if (answer.ok()) return load_from(next_.machine + 1);
      return finish(answer.outcome == Outcome::kInterrupted ? kCodeInterrupted : kCodeUnfinished,
                    machines_[next_.machine].name + ": " + answer.text +
                        "; no machine runs: start this QEMU anew if it has ended, and call this "
                        "command again");
    case Step::kGoOn:
      return answer.ok() ? go_on_from(next_.machine + 1) : refused(answer);
    case Step::kRestored:
      return answer.ok() ? plug_from(0, 0) : refused(answer);
    case Step::kHalt:
      if (!answer.ok()) leave(answer);
      return halt_from(next_.machine + 1);
    case Step::kPlug:
      if (!answer.ok()) leave(answer);
      return plug_from(next_.machine, next_.card + 1);
    default:
      if (!answer.ok()) leave(answer);
      return over();
  }
}

void RestoreMachine::looked(const Answer& answer) {
  if (!answer.ok()) return finish(answer.code, answer.text);
  see_cards(answer);
  seen_ = answer.seen;
  ran_ =
      std::all_of(seen_.begin(), seen_.end(), [](const Observation& seen) { return seen.running; });
  load_from(0);
}

void RestoreMachine::load_from(std::size_t machine) {
  while (machine < machines_.size() && seen_[machine].loaded) ++machine;
  next_ = {Step::kLoad, machine};
  if (machine == machines_.size()) go_on_from(0);
}

void RestoreMachine::go_on_from(std::size_t machine) {
  while (machine < machines_.size() && seen_[machine].running) ++machine;
  next_ = machine < machines_.size() ? Action{Step::kGoOn, machine} : Action{Step::kRestored};
}

/// Once its lease has run out, the job would go on by itself: hence no machine that this call let
/// go on is left running. A machine that ran before may belong to another set, and to a healthy
/// job.
void RestoreMachine::refused(const Answer& answer) {
  const std::string of = object();
  // What is loaded then stands still, and the next call goes on from there: kCodeNotReturned would
  // say that the job runs.
  const bool said = next_.step == Step::kRestored && answer.code != kCodeNotReturned;
  end_.code = said ? answer.code : kCodeUnfinished;
  end_.text = (of.empty() ? "" : of + ": ") + answer.text;
  if (!ran_) return halt_from(0);
  finish(end_.code, end_.text + (end_.code == kCodeInconsistent
                                     ? "; these machines run already and are not of this set, or "
                                       "went on too late: they were left as they are"
                                     : "; the machines ran before, and still do"));
}

void RestoreMachine::halt_from(std::size_t machine) {
  for (; machine < machines_.size() && seen_[machine].running; ++machine)
    end_.left.push_back(machines_[machine].name +
                        " ran before, and still does: stop it if it is of this set");
  next_ = {Step::kHalt, machine};
  if (machine < machines_.size()) return;
  finish(end_.code,
         end_.text + (end_.left.empty() ? "; no machine runs" : "; not all machines stand still"));
}

void RestoreMachine::plug_from(std::size_t machine, std::size_t card) {
  if (next_card(Step::kPlug, false, machine, card)) return;
  next_ = {Step::kReturn};
  if (!has_cards()) over();
}

void RestoreMachine::over() {
  if (end_.left.empty()) return finish(kCodeDone, "the set is restored, and its job runs on");
  finish(kCodeNotReturned, "the set is restored, and its job runs on, but not on all of its cards");
}

}  // namespace livebtl::hypervisor
