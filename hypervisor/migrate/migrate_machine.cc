// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/migrate/migrate_machine.cc -- see migrate_machine.h.
#include "hypervisor/migrate/migrate_machine.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace livebtl::hypervisor {
namespace {

constexpr const char* kLeftOnTheWayBack =
    "the guest stood still, its last migration had failed, and a card that livebtl had pulled was "
    "gone";

int code_going_back(const Answer& why) {
  return why.went == Went::kInterrupted ? kCodeInterrupted : kCodeTakenBack;
}

}  // namespace

const char* name_of(Do what) noexcept {
  constexpr const char* kNames[] = {"look",   "prepare",    "unplug",       "begin", "migrate",
                                    "cancel", "look_back",  "go_on",        "plug",  "return",
                                    "arrive", "plug_there", "return_there", "end"};
  return kNames[static_cast<std::size_t>(what)];
}

MigrateMachine::MigrateMachine(std::vector<std::string> cards, bool destination)
    : cards_(std::move(cards)), destination_(destination), plugged_(cards_.size(), true) {}

void MigrateMachine::interrupt() {
  if (!can_go_back() || interrupted_) return;
  interrupted_ = true;
  const Answer why{Went::kInterrupted, kCodeInterrupted, "interrupted", {}};
  if (next_.what == Do::kLook || next_.what == Do::kPrepare) {
    finish(kCodeInterrupted, "interrupted; nothing was changed");
  } else if (next_.what == Do::kFollow) {
    followed(why);
  } else {
    go_back(why, kCodeInterrupted);
  }
}

void MigrateMachine::answer(const Answer& answer) {
  switch (next_.what) {
    case Do::kLook:
      return looked(answer);
    case Do::kPrepare:
      return prepared(answer);
    case Do::kUnplug:
      return unplugged(answer);
    case Do::kMigrate:
      return began(answer);
    case Do::kFollow:
      return followed(answer);
    case Do::kCancel:  // whatever came of it, the migration itself says how it ends
      next_ = {Do::kFollow, 0};
      return;
    case Do::kLookBack:
      return looked_back(answer);
    case Do::kGoOn:
    case Do::kPlug:
    case Do::kReturn:
      return undid(answer);
    case Do::kArrive:
    case Do::kPlugThere:
    case Do::kReturnThere:
      return done_there(answer);
    case Do::kEnd:
      return;
  }
}

void MigrateMachine::finish(int code, std::string text) {
  end_.code = code;
  end_.text = std::move(text);
  next_ = {Do::kEnd, 0};
}

// The way there

void MigrateMachine::looked(const Answer& answer) {
  if (answer.went != Went::kWell) return finish(answer.code, answer.text);
  LIVEBTL_ASSERT(answer.seen.plugged.size() == cards_.size(), "each card was looked for");
  plugged_ = answer.seen.plugged;
  begun_ = answer.seen.migration == Migration::kActive;
  const auto card = std::find(plugged_.begin(), plugged_.end(), true);
  if (answer.seen.migration == Migration::kCompleted && card != plugged_.end()) {
    finish(kCodeRefused,
           "the guest was saved or migrated by somebody else, with " +
               cards_[static_cast<std::size_t>(card - plugged_.begin())] +
               " plugged in; if it is to run here, let it go on (cont), and call again");
  } else if (answer.seen.migration == Migration::kCompleted) {
    moved();
  } else if (begun_) {  // by a call before this one, which was killed
    next_ = {Do::kFollow, 0};
  } else if (!answer.seen.running && answer.seen.pulled &&
             answer.seen.migration == Migration::kFailed) {
    begun_ = true;
    go_back({Went::kFailed, kCodeTakenBack, kLeftOnTheWayBack, {}}, kCodeTakenBack);
  } else if (!answer.seen.running) {
    finish(kCodeRefused,
           "the guest stands still, and so does its job; let it go on (cont), and call again");
  } else {
    next_ = {Do::kPrepare, 0};
  }
}

void MigrateMachine::prepared(const Answer& answer) {
  if (answer.went == Went::kWell) {
    has_job_ = answer.seen.has_job;
    return unplug_from(0);
  }
  go_back(answer,
          answer.went == Went::kFailed ? code_undone(answer.code) : code_going_back(answer));
}

void MigrateMachine::unplug_from(std::size_t card) {
  while (card < cards_.size() && !plugged_[card]) ++card;
  next_ = card < cards_.size() ? Action{Do::kUnplug, card} : Action{Do::kMigrate, 0};
}

void MigrateMachine::unplugged(const Answer& answer) {
  if (answer.went != Went::kWell) return go_back(answer, code_going_back(answer));
  plugged_[next_.card] = false;
  unplug_from(next_.card + 1);
}

void MigrateMachine::began(const Answer& answer) {
  if (answer.went == Went::kFailed) return go_back(answer, kCodeTakenBack);
  begun_ = true;  // or perhaps: only QEMU knows
  next_ = {Do::kFollow, 0};
  if (answer.went != Went::kWell) followed(answer);
}

void MigrateMachine::followed(const Answer& answer) {
  if (answer.went == Went::kWell && answer.seen.migration == Migration::kCompleted) return moved();
  if (answer.went == Went::kWell) {  // failed, or cancelled
    if (!cancelling_) return go_back(answer, kCodeTakenBack);
    return go_back(cancel_why_, code_going_back(cancel_why_));
  }
  if (cancelling_ || answer.went == Went::kFailed) return left_open(answer.text);
  cancelling_ = true;
  cancel_why_ = answer;
  next_ = {Do::kCancel, 0};
}

void MigrateMachine::left_open(const std::string& why) {
  finish(kCodeUnfinished, "how the migration ends is not known (" + why +
                              "); nothing was plugged in again: call this command again, which "
                              "goes on from where it stands");
}

// Right of the point of no return

void MigrateMachine::moved() {
  end_ = {};
  end_.moved = true;
  next_ = {Do::kArrive, 0};
  if (destination_) return;
  finish(kCodeDone, has_job_ ? "the guest has moved, and its job is on what moved with it"
                             : "the guest has moved; no job runs in it");
  for (const std::string& card : cards_)
    end_.left.push_back("at the destination: device_add " + card);
  if (has_job_) end_.left.emplace_back("then, in the guest: btlctl checkpoint return");
}

void MigrateMachine::there_from(std::size_t card) {
  next_ = card < cards_.size() ? Action{Do::kPlugThere, card} : Action{Do::kReturnThere, 0};
  if (next_.what == Do::kReturnThere && !has_job_) returned_there();
}

void MigrateMachine::returned_there() {
  finish(kCodeDone, has_job_ ? "the guest has moved, and its job returns to what it had"
                             : "the guest has moved; no job runs in it");
}

void MigrateMachine::done_there(const Answer& answer) {
  const Action was = next_;
  if (answer.went != Went::kWell) {
    const char* what = was.what == Do::kArrive      ? "let the guest run there: "
                       : was.what == Do::kPlugThere ? "device_add there: "
                                                    : "in the guest, btlctl checkpoint return: ";
    end_.left.push_back(what + answer.text);
    // Without its cards the job is to stay where it is.
    return finish(
        kCodeNotReturned,
        "the guest has moved; its job stays on what moved with it, for its return failed");
  }
  if (was.what == Do::kReturnThere) {
    has_job_ = answer.seen.has_job;
    return returned_there();
  }
  there_from(was.what == Do::kArrive ? 0 : was.card + 1);
}

}  // namespace livebtl::hypervisor
