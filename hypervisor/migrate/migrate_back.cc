// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/migrate/migrate_back.cc -- the way back of a migration: see migrate_machine.h.
#include "base/assert.h"
#include "hypervisor/migrate/migrate_machine.h"

namespace livebtl::hypervisor {
namespace {

/// A guest that is asked for a card loses its device at once, though the card stays in QEMU for as
/// long as a process has that device open.
std::string left_without(const std::string& absent) {
  return "the job returns by itself once it finds again what it misses: " + absent +
         "; if a process still has the device open, end it, and plug the card in again when QEMU "
         "has it no more";
}

}  // namespace

void MigrateMachine::go_back(const Answer& why, int code) {
  end_.code = code;
  end_.text = why.text;
  next_ = {Do::kLookBack, 0};
}

void MigrateMachine::looked_back(const Answer& answer) {
  if (answer.went == Went::kWell) {
    if (answer.seen.migration == Migration::kCompleted) return moved();
    if (answer.seen.migration == Migration::kActive) return left_open("it goes on after all");
    LIVEBTL_ASSERT(answer.seen.plugged.size() == cards_.size(), "each card was looked for");
    plugged_ = answer.seen.plugged;
    if (begun_ && !answer.seen.running) {
      next_ = {Do::kGoOn, 0};
      return;
    }
  } else {  // what is known stands: a card that is there is not plugged in twice
    end_.left.push_back("look which devices are plugged in: " + answer.text);
  }
  plug_from(0);
}

void MigrateMachine::plug_from(std::size_t card) {
  while (card < cards_.size() && plugged_[card]) ++card;
  next_ = card < cards_.size() ? Action{Do::kPlug, card} : Action{Do::kReturn, 0};
  if (next_.what == Do::kReturn && !has_job_) taken_back();
}

void MigrateMachine::undid(const Answer& answer) {
  const Action was = next_;
  if (answer.went != Went::kWell) {
    const char* what = was.what == Do::kGoOn     ? "let the guest go on (cont): "
                       : was.what == Do::kReturn ? "in the guest, btlctl checkpoint return: "
                                                 : "plug in again ";
    end_.left.push_back(what + (was.what == Do::kPlug ? cards_[was.card] + ": " : std::string()) +
                        answer.text);
  } else if (was.what == Do::kReturn) {
    absent_ = answer.seen.absent;
  }
  if (was.what == Do::kGoOn) return plug_from(0);
  if (was.what == Do::kPlug) return plug_from(was.card + 1);
  taken_back();
}

void MigrateMachine::taken_back() {
  const bool all = end_.left.empty();
  std::string where = "; taken back: the guest runs on here";
  if (!absent_.empty()) {  // no card that we have plugged in: what is undone is undone
    where += ", but its job stays on another transport, for a device is not there";
    end_.left.push_back(left_without(absent_));
  }
  if (all) return finish(end_.code, end_.text + where);
  finish(end_.code == kCodeTakenBack ? kCodeUnfinished : end_.code,
         end_.text + "; not all of it could be taken back");
}

}  // namespace livebtl::hypervisor
