// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/plan/sequence.h -- a state machine that decides what a command does next, given how
// everything before has gone: MigrateMachine, SnapshotMachine and RestoreMachine; and what passes
// between it and the steps that act (steps.h): the action, and the answer. Pure: no socket, no
// clock. Driven by report.h, or played, for a plan and by tests; owns nothing but its own state.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "hypervisor/vm/vm.h"

namespace livebtl::hypervisor {

enum class Step {
  kLook,         // where do machines, cards, files and migrations stand?
  kClaim,        // the set's directory; and note in each QEMU what a later call must know
  kPrepare,      // in a guest: leave what cannot be migrated or saved
  kUnplug,       // a card
  kBegin,        // the migration
  kMigrate,      // until it is decided
  kCancel,       // ask QEMU to give the migration up
  kLookBack,     // on the way back: which cards are gone?
  kHold,         // in a guest: park the job
  kRenew,        // ... for longer
  kSave,         // a machine, which stands still from then on
  kGoOn,         // a machine
  kCheck,        // in a guest: was the job parked throughout?
  kEndHold,      // in a guest
  kSeal,         // the set is whole
  kDiscard,      // there is no set
  kPlug,         // a card
  kReturn,       // in a guest: take the cards up again
  kArrive,       // until the guest runs at the destination
  kPlugThere,    // a card, at the destination
  kReturnThere,  // in the guest, at the destination
  kForget,       // in each QEMU what was noted for a later call
  kLoad,         // a machine
  kRestored,     // in a guest: the job goes on as what was restored
  kHalt,         // a machine: it must not go on
  kEnd
};
const char* name_of(Step step) noexcept;

struct Action {
  Step step = Step::kEnd;
  std::size_t machine = 0;  // of kSave, kGoOn, kLoad, kHalt, and of a card's
  std::size_t card = 0;     // of kUnplug, kPlug, kPlugThere
  bool back = false;        // snapshot's kGoOn, kCheck, kEndHold: on the way back

  bool of_a_machine() const noexcept;
  bool of_a_card() const noexcept;
};

/// A virtual machine and its cards by name. Where there is but one machine it has none.
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

/// What a look has found of one machine.
struct Observation {
  bool running = false;
  std::vector<bool> plugged = {};          // by card
  Migration migration = Migration::kNone;  // migrate
  bool pulled = false;   // migrate: a card is gone, and was pulled by us: QEMU has our note of it
  bool claimed = false;  // snapshot: by a call before this one, which was killed
  bool sent = false;     // snapshot: it stands still because its memory was sent somewhere
  bool loaded = false;   // restore: its memory is there
};

struct Answer {
  Outcome outcome = Outcome::kOk;
  int code = kCodeDone;                // unless kOk: the exit code that follows
  std::string text = {};               // unless kOk: why; of kMigrate, and of a set that is sealed
  std::vector<Observation> seen = {};  // of kLook and kLookBack; of kMigrate: the migration alone
  bool has_job = true;                 // migrate, kPrepare and kReturnThere: the guest
  std::string absent = {};             // migrate, kReturn: what the job still waits for
  std::string left_there = {};  // ... or kLookBack: what the destination keeps of the migration
  bool sealed = false;          // snapshot, kLook: the directory holds a whole set
  bool repeats = false;         // ... made by the killed call that this one repeats

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
/// ... of an error that came when something had been done: whatever it was, it ends in a way back.
Answer late_answer_of(const Error& error);
/// The exit code where an error ends a command before anything was done.
int code_of(Errc error) noexcept;
/// The exit code where a command in the guest has failed and nothing was done in the end: the
/// guest's own, but for the one by which a sequence says that its work was done.
constexpr int code_undone(int guest) noexcept {
  return guest == kCodeNotReturned ? kCodeTakenBack : guest;
}

class Sequence {
 public:
  virtual ~Sequence() = default;
  virtual std::unique_ptr<Sequence> clone() const = 0;

  /// What is to be done; kEnd: nothing any more.
  virtual Action next() const noexcept { return next_; }
  /// How that went.
  virtual void answer(const Answer& answer) = 0;
  /// The user wants the machines back. Has no effect where there is no way back.
  virtual void interrupt() = 0;

  const End& end() const noexcept { return end_; }
  /// Of next(): what it is done to: "vm1", "card hca0 of vm1", "hca0", "".
  std::string object() const;
  /// ... and all of it: "unplug card hca0 of vm1".
  std::string label() const;

 protected:
  explicit Sequence(std::vector<MachineNames> machines);
  Sequence(const Sequence&) = default;
  Sequence& operator=(const Sequence&) = default;

  void finish(int code, std::string text);
  /// next() has failed, and is left to the user.
  void leave(const Answer& answer);
  /// Which cards are there, from now on.
  void see_cards(const Answer& answer);
  bool has_cards() const noexcept;
  /// `step` is next, of the first card from this one on that is plugged in, or is not; false: there
  /// is none.
  bool next_card(Step step, bool plugged, std::size_t machine = 0, std::size_t card = 0);

  std::vector<MachineNames> machines_;
  std::vector<std::vector<bool>> plugged_;  // by machine and card, as far as it is known
  Action next_{Step::kLook};
  End end_;
};

}  // namespace livebtl::hypervisor
