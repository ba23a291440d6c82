// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/migrate/migrate_back.cc -- the way back of a migration: see migrate_machine.h.
#include "hypervisor/migrate/migrate_machine.h"

namespace livebtl::hypervisor {
namespace {

/// A guest that is asked to give up a card loses its device at once, although the card stays in
/// QEMU for as long as a process has that device open.
std::string left_without(const std::string& absent) {
  return "the job returns by itself as soon as what it misses is there again: " + absent +
         "; if a process still has the device open, end it, and plug the card in again when it is "
         "gone from QEMU";
}

}  // namespace

void MigrateMachine::go_back(const Answer& why, int code) {
  end_.code = code;
  end_.text = why.text;
  next_ = {Step::kLookBack};
}

void MigrateMachine::looked_back(const Answer& answer) {
  if (answer.ok()) {
    const Observation& seen = answer.seen.front();
    if (seen.migration == Migration::kCompleted) return arrive();
    if (seen.migration == Migration::kActive) return left_open("it goes on after all");
    see_cards(answer);
    left_there_ = answer.left_there;
    if (begun_ && !seen.running) {
      next_ = {Step::kGoOn};
      return;
    }
  } else {  // go by what is known: no card is plugged in twice
    end_.left.push_back("check which devices are plugged in: " + answer.text);
  }
  plug_from(0);
}

void MigrateMachine::plug_from(std::size_t card) {
  if (next_card(Step::kPlug, false, 0, card)) return;
  next_ = {Step::kReturn};
  if (!has_job_) taken_back();
}

void MigrateMachine::undid(const Answer& answer) {
  const Action was = next_;
  if (!answer.left_there.empty()) left_there_ = answer.left_there;
  if (!answer.ok()) {
    const std::string what = was.step == Step::kGoOn     ? "let the guest go on (cont)"
                             : was.step == Step::kReturn ? "in the guest, btlctl checkpoint return"
                                                         : "plug in again " + object();
    end_.left.push_back(what + ": " + answer.text);
  } else if (was.step == Step::kReturn) {
    absent_ = answer.absent;
  }
  if (was.step == Step::kGoOn) return plug_from(0);
  if (was.step == Step::kPlug) return plug_from(was.card + 1);
  taken_back();
}

void MigrateMachine::taken_back() {
  const bool all = end_.left.empty();
  std::string where = "; taken back: the guest runs on here";
  if (!absent_.empty()) {  // a card that we did not plug in: all that we did is undone
    where += ", but its job stays on another transport because a device is not there";
    end_.left.push_back(left_without(absent_));
  }
  if (!left_there_.empty()) {
    where += "; the destination keeps its half of the migration";
    end_.left.push_back(left_there_);
  }
  if (all) return finish(end_.code, end_.text + where);
  finish(end_.code == kCodeTakenBack ? kCodeUnfinished : end_.code,
         end_.text + "; not all of it could be taken back");
}

}  // namespace livebtl::hypervisor
