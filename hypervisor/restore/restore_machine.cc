// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/restore/restore_machine.cc -- see restore_machine.h.
#include "hypervisor/restore/restore_machine.h"

#include <algorithm>

namespace livebtl::hypervisor {

RestoreMachine::RestoreMachine(std::vector<MachineNames> machines)
    : machines_(std::move(machines)) {}

void RestoreMachine::finish(int code, std::string text) {
  end_.code = code;
  end_.text = std::move(text);
  next_ = {SetDo::kEnd};
}

void RestoreMachine::interrupt() {
  if (next_.what == SetDo::kLook)
    return finish(kCodeInterrupted, "interrupted; nothing was changed");
  if (next_.what == SetDo::kLoad)
    finish(kCodeInterrupted,
           "interrupted; no machine runs, and what is loaded stands still: call this command "
           "again, which goes on from there");
}

void RestoreMachine::answer(const SetAnswer& answer) {
  const bool well = answer.went == Went::kWell;
  switch (next_.what) {
    case SetDo::kLook:
      return looked(answer);
    case SetDo::kLoad:
      if (well) return load_from(next_.machine + 1);
      return finish(answer.went == Went::kInterrupted ? kCodeInterrupted : kCodeUnfinished,
                    machines_[next_.machine].name + ": " + answer.text +
                        "; no machine runs: start this QEMU anew if it has ended, and call this "
                        "command again");
    case SetDo::kGoOn:
      return well ? go_on_from(next_.machine + 1) : refused(answer);
    case SetDo::kRestored:
      return well ? plug_from(0, 0) : refused(answer);
    case SetDo::kHalt:
      left(answer);
      return halt_from(next_.machine + 1);
    case SetDo::kPlug:
      left(answer);
      return plug_from(next_.machine, next_.card + 1);
    default:
      left(answer);
      return over();
  }
}

void RestoreMachine::looked(const SetAnswer& answer) {
  if (answer.went != Went::kWell) return finish(answer.code, answer.text);
  seen_ = answer.seen;
  ran_ =
      std::all_of(seen_.begin(), seen_.end(), [](const MachineSeen& seen) { return seen.running; });
  load_from(0);
}

void RestoreMachine::load_from(std::size_t machine) {
  while (machine < machines_.size() && seen_[machine].loaded) ++machine;
  next_ = {SetDo::kLoad, machine};
  if (machine == machines_.size()) go_on_from(0);
}

void RestoreMachine::go_on_from(std::size_t machine) {
  while (machine < machines_.size() && seen_[machine].running) ++machine;
  next_ =
      machine < machines_.size() ? SetAction{SetDo::kGoOn, machine} : SetAction{SetDo::kRestored};
}

/// Where their leases run out the job would go on by itself: hence nobody is left running whom this
/// call has let go on. Who ran when it came may be of another set, and a job that is well.
void RestoreMachine::refused(const SetAnswer& answer) {
  const std::string object = object_of(next_, machines_);
  // What is loaded stands still then, and the next call goes on from there: 6 would say that the
  // job does.
  const bool said = next_.what == SetDo::kRestored && answer.code != kCodeNotReturned;
  end_.code = said ? answer.code : kCodeUnfinished;
  end_.text = (object.empty() ? "" : object + ": ") + answer.text;
  if (!ran_) return halt_from(0);
  finish(end_.code, end_.text + (end_.code == kCodeInconsistent
                                     ? "; these machines run already and are not of this set, or "
                                       "went on too late: they were left as they are"
                                     : "; the machines ran before, and do so still"));
}

void RestoreMachine::halt_from(std::size_t machine) {
  for (; machine < machines_.size() && seen_[machine].running; ++machine)
    end_.left.push_back(machines_[machine].name +
                        " ran before, and does so still: stop it if it is of this set");
  next_ = {SetDo::kHalt, machine};
  if (machine < machines_.size()) return;
  finish(end_.code,
         end_.text + (end_.left.empty() ? "; no machine runs" : "; not all machines stand still"));
}

void RestoreMachine::plug_from(std::size_t machine, std::size_t card) {
  for (; machine < machines_.size(); ++machine, card = 0) {
    const std::vector<bool>& plugged = seen_[machine].plugged;
    while (card < plugged.size() && plugged[card]) ++card;
    if (card == plugged.size()) continue;
    next_ = {SetDo::kPlug, machine, card};
    return;
  }
  const bool cards = std::any_of(machines_.begin(), machines_.end(),
                                 [](const MachineNames& each) { return !each.cards.empty(); });
  next_ = {SetDo::kReturn};
  if (!cards) over();
}

void RestoreMachine::left(const SetAnswer& answer) {
  if (answer.went == Went::kWell) return;
  const std::string object = object_of(next_, machines_);
  end_.left.push_back(std::string(name_of(next_.what)) + (object.empty() ? "" : " " + object) +
                      ": " + answer.text);
}

void RestoreMachine::over() {
  if (end_.left.empty()) return finish(kCodeDone, "the set is restored, and its job runs on");
  finish(kCodeNotReturned, "the set is restored, and its job runs on; but not on all of its cards");
}

}  // namespace livebtl::hypervisor
