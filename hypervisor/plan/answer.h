// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/plan/answer.h -- how a step went, what it found, and how a whole command ended: what
// passes between the sequences that decide and the steps that act. Pure data.
#pragma once

#include <string>
#include <vector>

#include "base/exit_code.h"
#include "hypervisor/qmp/migration.h"

namespace livebtl::hypervisor {

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
  bool sealed = false;                 // snapshot, kLook: the directory holds a whole set
  bool repeats = false;                // ... made by the killed call that this one repeats

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

}  // namespace livebtl::hypervisor
