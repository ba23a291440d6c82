// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/migrate/migrate_machine.cc -- see migrate_machine.h.
#include "hypervisor/migrate/migrate_machine.h"

namespace livebtl::hypervisor {
namespace {

constexpr const char* kLeftOnTheWayBack =
    "the guest stood still, its last migration had failed, and a card that livebtl had pulled was "
    "gone";

int code_going_back(const Answer& why) {
  return why.outcome == Outcome::kInterrupted ? kCodeInterrupted : kCodeTakenBack;
}

}  // namespace

void MigrateMachine::interrupt() {
  if (interrupted_ || cancelling_) return;
  const Answer why{Outcome::kInterrupted, kCodeInterrupted, "interrupted"};
  switch (next_.step) {
    case Step::kLook:
    case Step::kPrepare:
      finish(kCodeInterrupted, "interrupted; nothing was changed");
      break;
    case Step::kUnplug:
    case Step::kBegin:
      go_back(why, kCodeInterrupted);
      break;
    case Step::kMigrate:
      followed(why);
      break;
    default:  // on the way back, or the guest has moved
      return;
  }
  interrupted_ = true;
}

void MigrateMachine::answer(const Answer& answer) {
  switch (next_.step) {
    case Step::kLook:
      return looked(answer);
    case Step::kPrepare:
      return prepared(answer);
    case Step::kUnplug:
      return unplugged(answer);
    case Step::kBegin:
      return began(answer);
    case Step::kMigrate:
      return followed(answer);
    case Step::kCancel:  // whatever the answer, the migration itself says how it ends
      next_ = {Step::kMigrate};
      return;
    case Step::kLookBack:
      return looked_back(answer);
    case Step::kGoOn:
    case Step::kPlug:
    case Step::kReturn:
      return undid(answer);
    case Step::kArrive:
    case Step::kPlugThere:
    case Step::kReturnThere:
      return done_there(answer);
    default:
      return;
  }
}

// The way there

void MigrateMachine::looked(const Answer& answer) {
  if (!answer.ok()) return finish(answer.code, answer.text);
  see_cards(answer);
  const Observation& seen = answer.seen.front();
  const bool completed = seen.migration == Migration::kCompleted;
  begun_ = seen.migration == Migration::kActive;
  if (completed && next_card(Step::kUnplug, true)) {
    finish(kCodeRefused,
           "the guest was saved or migrated by somebody else, with " + object() +
               " plugged in; if it is to run here, let it go on (cont), and call again");
  } else if (completed) {
    arrive();
  } else if (begun_) {  // by an earlier call, which was killed
    next_ = {Step::kMigrate};
  } else if (!seen.running && seen.pulled && seen.migration == Migration::kFailed) {
    begun_ = true;
    go_back({Outcome::kFailed, kCodeTakenBack, kLeftOnTheWayBack}, kCodeTakenBack);
  } else if (!seen.running) {
    finish(kCodeRefused,
           "the guest stands still, and so does its job; let it go on (cont), and call again");
  } else {
    next_ = {Step::kPrepare};
  }
}

void MigrateMachine::prepared(const Answer& answer) {
  if (answer.ok()) {
    has_job_ = answer.has_job;
    return unplug_from(0);
  }
  go_back(answer,
          answer.outcome == Outcome::kFailed ? code_undone(answer.code) : code_going_back(answer));
}

void MigrateMachine::unplug_from(std::size_t card) {
  if (!next_card(Step::kUnplug, true, 0, card)) next_ = {Step::kBegin};
}

void MigrateMachine::unplugged(const Answer& answer) {
  if (!answer.ok()) return go_back(answer, code_going_back(answer));
  plugged_[0][next_.card] = false;
  unplug_from(next_.card + 1);
}

void MigrateMachine::began(const Answer& answer) {
  if (answer.outcome == Outcome::kFailed) return go_back(answer, kCodeTakenBack);
  begun_ = true;  // perhaps: only QEMU knows
  next_ = {Step::kMigrate};
  if (!answer.ok()) followed(answer);
}

void MigrateMachine::followed(const Answer& answer) {
  if (answer.ok() && answer.seen.front().migration == Migration::kCompleted) return arrive();
  if (answer.ok()) {  // failed, or cancelled
    if (!cancelling_) return go_back(answer, kCodeTakenBack);
    return go_back(cancel_why_, code_going_back(cancel_why_));
  }
  if (cancelling_ || answer.outcome == Outcome::kFailed) return left_open(answer.text);
  cancelling_ = true;
  cancel_why_ = answer;
  next_ = {Step::kCancel};
}

void MigrateMachine::left_open(const std::string& why) {
  finish(kCodeUnfinished, "how the migration ends is not known (" + why +
                              "); nothing was plugged in again: call this command again, which "
                              "goes on from where it stands");
}

// After the point of no return

void MigrateMachine::arrive() {
  end_ = {};
  moved_ = true;
  next_ = {Step::kArrive};
  if (destination_) return;
  finish(kCodeDone, has_job_ ? "the guest has moved, and its job is on what moved with it"
                             : "the guest has moved; no job runs in it");
  for (const std::string& card : machines_[0].cards)
    end_.left.push_back("at the destination: device_add " + card);
  if (has_job_) end_.left.emplace_back("then, in the guest: btlctl checkpoint return");
}

void MigrateMachine::there_from(std::size_t card) {
  if (card < machines_[0].cards.size()) {
    next_ = {Step::kPlugThere, 0, card};
  } else if (has_job_) {
    next_ = {Step::kReturnThere};
  } else {
    returned_there();
  }
}

void MigrateMachine::returned_there() {
  finish(kCodeDone, has_job_ ? "the guest has moved, and its job returns to what it had"
                             : "the guest has moved; no job runs in it");
}

void MigrateMachine::done_there(const Answer& answer) {
  const Action was = next_;
  if (!answer.ok()) {
    const char* what = was.step == Step::kArrive      ? "let the guest run there: "
                       : was.step == Step::kPlugThere ? "device_add there: "
                                                      : "in the guest, btlctl checkpoint return: ";
    end_.left.push_back(what + answer.text);
    // Without its cards the job stays where it is.
    return finish(
        kCodeNotReturned,
        "the guest has moved; its job stays on what moved with it because its return failed");
  }
  if (was.step == Step::kReturnThere) {
    has_job_ = answer.has_job;
    return returned_there();
  }
  there_from(was.step == Step::kArrive ? 0 : was.card + 1);
}

}  // namespace livebtl::hypervisor
