// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/plan/step.h -- what the sequences over QEMU (vm migrate, snapshot, restore) have in
// common: how a step went, and the exit codes. Pure data.
#pragma once

#include "base/clock.h"
#include "livebtl/result.h"

namespace livebtl::hypervisor {

// btlctl's exit codes, as in its manual.
inline constexpr int kCodeDone = 0, kCodeUsage = 1, kCodeNotFound = 2, kCodeRefused = 3,
                     kCodeUnfinished = 4, kCodeTakenBack = 5, kCodeNotReturned = 6,
                     kCodeInconsistent = 8, kCodeNotPermitted = 9, kCodeInterrupted = 130;

// No step takes longer, nor longer than the command's budget has for it.
inline constexpr TimeNs kUnplugMax = 60 * kSecond;
inline constexpr TimeNs kLookMax = 30 * kSecond;
inline constexpr TimeNs kPrepareMax = 30 * kSecond;  // of the guest's btlctl
inline constexpr TimeNs kAfterwards = 60 * kSecond;  // a step back, or at the destination
inline constexpr TimeNs kCancelMax = 150 * kSecond;  // QEMU may still connect: TCP tries for 127 s
inline constexpr TimeNs kPlugMax = 600 * kSecond;  // but this: all of the guest's memory is pinned
inline constexpr TimeNs kCardMax = 180 * kSecond;  // until the guest can use what was plugged in

enum class Went {
  kWell,
  kFailed,       // somebody said no
  kTimeout,      // nobody has said anything
  kInterrupted,  // nor was waited for
};

/// The code that follows where a command in the guest has failed and nothing was done in the end:
/// the guest's own, but for the one by which a sequence says that its work was done.
constexpr int code_undone(int guest) noexcept {
  return guest == kCodeNotReturned ? kCodeTakenBack : guest;
}

/// What an error means for a sequence, and the exit code if it ends it before anything was done.
Went went_of(Errc error) noexcept;
int code_of(Errc error) noexcept;
/// ... if it came later: whatever it was, it ends in a way back.
int code_of_later(Errc error) noexcept;

}  // namespace livebtl::hypervisor
