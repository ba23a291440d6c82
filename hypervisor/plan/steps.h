// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/plan/steps.h -- carries out what a sequence decides: the deadlines of the steps, and
// the steps that several commands share. Used by btlctl's one thread.
#pragma once

#include <algorithm>

#include "base/clock.h"
#include "hypervisor/plan/sequence.h"
#include "hypervisor/vm/guest_job.h"

namespace livebtl::hypervisor {

// Limits of single steps, which the command's budget may shorten.
inline constexpr TimeNs kUnplugMax = 60 * kSecond;
inline constexpr TimeNs kLookMax = 30 * kSecond;
inline constexpr TimeNs kDiagnosisMax = 10 * kSecond;
inline constexpr TimeNs kAfterwards = 60 * kSecond;  // a step back, or at the destination
inline constexpr TimeNs kCancelMax = 150 * kSecond;  // QEMU may be connecting: TCP tries for 127 s
inline constexpr TimeNs kLeftThereMax =
    10 * kSecond;  // libvirt's daemon there removes its half of a failed migration
inline constexpr TimeNs kPlugMax = 600 * kSecond;  // all of the guest's memory is pinned

/// How a command's time (--timeout) is divided: two thirds are for the way there; the rest, at
/// least a third, is kept for what comes afterwards: the way back, or what is left to do after
/// success. Pure: no clock.
class Budget {
 public:
  Budget(TimeNs now, TimeNs timeout) noexcept
      : there_(now + way_there(timeout)),
        all_(now + timeout),
        kept_(timeout - way_there(timeout)) {}

  static constexpr TimeNs way_there(TimeNs timeout) noexcept { return timeout / 3 * 2; }

  /// When the way there ends.
  TimeNs there() const noexcept { return there_; }
  /// When everything ends. The first call begins the part that comes afterwards, which has its
  /// third even if this process was stopped for a while and the call comes late.
  TimeNs afterwards(TimeNs now) noexcept {
    if (ends_ == 0) ends_ = end_from(now);
    return ends_;
  }
  /// When to stop asking what went wrong: the way back needs the time more.
  TimeNs diagnosis(TimeNs now) const noexcept {
    const TimeNs left = (ends_ == 0 ? end_from(now) : ends_) - now;
    return now + std::clamp(left / 4, TimeNs{0}, kDiagnosisMax);
  }

 private:
  TimeNs end_from(TimeNs now) const noexcept { return std::max(all_, now + kept_); }

  TimeNs there_, all_, kept_;
  TimeNs ends_ = 0;
};

class Steps {
 public:
  virtual ~Steps() = default;
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  virtual Answer perform(Action action) = 0;

 protected:
  /// `timeout`: of the whole command (Budget). `stop`: the user wants the machines back; borrowed.
  Steps(TimeNs timeout, const std::atomic<bool>& stop, Progress progress);

  Deadline forward() const;        // ends with the way there, or when the user interrupts
  Deadline uninterrupted() const;  // ends only with the way there
  Deadline afterwards();
  Deadline plugging();
  Deadline diagnosis() const;
  /// For an order to the guest's btlctl, which is not interrupted, but has a time-out of its own.
  Tries tries(GuestOrder order);

  /// Not interrupted: a card that was asked for goes sooner or later, and only after waiting for
  /// that can it be plugged in again. `agent`: of the guest, which may know what holds the card.
  Answer unplug(Vm& vm, const Card& card, GuestAgent* agent);
  /// Plugs it into a machine that has never had it.
  Answer plug(Vm& vm, const Card& card);
  /// Plugs it back into the machine that it was pulled from. Fails if it is still there because the
  /// guest has not given it up yet; its note then stays.
  Answer plug_again(Vm& vm, const Card& card);

  Progress progress_;
  Budget budget_;

 private:
  Answer not_given_up(Vm& vm, const Card& card);

  const std::atomic<bool>& stop_;
  bool plugged_in_ = false;  // we plugged in a card
};

}  // namespace livebtl::hypervisor
