// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/plan/sequence.h -- a state machine that decides what a command does next, given how
// everything before went (MigrateMachine and others), and what passes between it and the steps that
// act (steps.h): the action and the answer. Pure: no socket, no clock. Driven by report.h, or
// played for a plan or by a test; owns nothing but its own state.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "hypervisor/vm/vm.h"

namespace livebtl::hypervisor {

enum class Step {
  kLook,         // where do machines, cards, files and migrations stand?
  kClaim,        // the set's directory; note in each hypervisor what a later call must know
  kPrepare,      // in a guest: leave what cannot be migrated or saved
  kUnplug,       // a card
  kBegin,        // the migration
  kMigrate,      // until its outcome is known
  kCancel,       // ask the hypervisor to give up the migration
  kLookBack,     // on the way back: which cards are gone?
  kHold,         // in a guest: park the job
  kRenew,        // in a guest: the hold's lease
  kSave,         // a machine, which stands still from then on
  kGoOn,         // a machine
  kCheck,        // in a guest: was the job parked throughout?
  kEndHold,      // in a guest
  kSeal,         // the set, which is whole
  kDiscard,      // what was made of a set
  kPlug,         // a card
  kReturn,       // in a guest: use the cards again
  kArrive,       // wait until the guest runs at the destination
  kPlugThere,    // a card, at the destination
  kReturnThere,  // in the guest, at the destination
  kForget,       // what was noted in each hypervisor for a later call
  kLoad,         // a machine
  kRestored,     // in a guest: tell the job that it was restored
  kHalt,         // a machine: it must not go on
  kEnd
};
const char* name_of(Step step) noexcept;

struct Action {
  Step step = Step::kEnd;
  std::size_t machine = 0;  // for kSave, kGoOn, kLoad, kHalt, and steps on a card
  std::size_t card = 0;     // for kUnplug, kPlug, kPlugThere
  bool back = false;        // snapshot and dump: on the way back

  bool of_a_machine() const noexcept;
  bool of_a_card() const noexcept;
};

/// The names of a virtual machine and its cards. A migration's machine has no name.
struct MachineNames {
  std::string name;
  std::vector<std::string> cards;
};

// btlctl's exit codes, by what they mean here.
inline constexpr int kCodeDone = static_cast<int>(ExitCode::kDone),
                     kCodeUsage = static_cast<int>(ExitCode::kUsage),
                     kCodeNotFound = static_cast<int>(ExitCode::kNotFound),
                     kCodeRefused = static_cast<int>(ExitCode::kRefused),
                     kCodeUnfinished = static_cast<int>(ExitCode::kBusy),
                     kCodeTakenBack = static_cast<int>(ExitCode::kRetracted),
                     kCodeNotReturned = static_cast<int>(ExitCode::kNotReleased),
                     kCodeInconsistent = static_cast<int>(ExitCode::kInconsistent),
                     kCodeNotPermitted = static_cast<int>(ExitCode::kNotPermitted),
                     kCodeInterrupted = static_cast<int>(ExitCode::kInterrupted);

enum class Outcome {
  kOk,
  kFailed,       // refused, or in error
  kTimeout,      // no answer came
  kInterrupted,  // by the user, before an answer came
};

/// What a look found out about one machine.
struct Observation {
  bool running = false;
  std::vector<bool> plugged = {};          // by card
  Migration migration = Migration::kNone;  // migrate
  bool pulled = false;   // migrate: a card is gone, and our note says that we pulled it
  bool claimed = false;  // snapshot: by an earlier call, which was killed
  bool sent = false;     // snapshot: it stands still because its memory was sent somewhere
  bool loaded = false;   // restore: its memory is there
};

struct Answer {
  Outcome outcome = Outcome::kOk;
  int code = kCodeDone;                // unless kOk: the exit code that follows
  std::string text = {};               // unless kOk: why; also for kMigrate, and if `sealed`
  std::vector<Observation> seen = {};  // for kLook and kLookBack; for kMigrate: the migration alone
  bool has_job = true;                 // migrate, kPrepare and kReturnThere: the guest has one
  std::string absent = {};             // migrate, kReturn: what the job still waits for
  std::string left_there = {};  // migrate, kReturn or kLookBack: what the destination still has
  bool sealed = false;          // snapshot, kLook: the directory holds a whole set
  bool repeats = false;         // that set is of the killed call that this one repeats

  bool ok() const noexcept { return outcome == Outcome::kOk; }
};

/// How a command ended.
struct End {
  int code = kCodeDone;
  std::string text = {};
  std::vector<std::string> left = {};  // what the user has to do by hand
};

Answer answer_of(const Error& error);
Answer answer_of(const Status& status);
/// The same for an error after something was done: whatever the error, a way back follows.
Answer late_answer_of(const Error& error);
/// The exit code when an error ends a command before anything was done.
int code_of(Errc error) noexcept;
/// The exit code when a command in the guest failed and in the end nothing was done: the guest's
/// own, except for the one by which a sequence says that its work was done.
constexpr int code_undone(int guest) noexcept {
  return guest == kCodeNotReturned ? kCodeTakenBack : guest;
}

class Sequence {
 public:
  virtual ~Sequence() = default;
  virtual std::unique_ptr<Sequence> clone() const = 0;

  /// What to do next; kEnd: nothing.
  virtual Action next() const noexcept { return next_; }
  /// Tells the sequence how next() went.
  virtual void answer(const Answer& answer) = 0;
  /// The user wants the machines back. Has no effect where there is no way back.
  virtual void interrupt() = 0;

  const End& end() const noexcept { return end_; }
  /// What next() acts on: "vm1", "card hca0 of vm1", "hca0", "".
  std::string object() const;
  /// next() in full: "unplug card hca0 of vm1".
  std::string label() const;

 protected:
  explicit Sequence(std::vector<MachineNames> machines);
  Sequence(const Sequence&) = default;
  Sequence& operator=(const Sequence&) = default;

  void finish(int code, std::string text);
  /// next() has failed, and is left to the user.
  void leave(const Answer& answer);
  /// Records which cards are plugged in.
  void see_cards(const Answer& answer);
  bool has_cards() const noexcept;
  /// Makes `step` next for the first card, from this one on, that is `plugged`; false if there is
  /// none.
  bool next_card(Step step, bool plugged, std::size_t machine = 0, std::size_t card = 0);

  std::vector<MachineNames> machines_;
  std::vector<std::vector<bool>> plugged_;  // by machine and card, as far as known
  Action next_{Step::kLook};
  End end_;
};

}  // namespace livebtl::hypervisor
