// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/plan/steps.h -- does what a sequence decides: the deadlines of the steps, and those
// steps that more than one command takes. Used by btlctl's one thread.
#pragma once

#include "hypervisor/plan/budget.h"
#include "hypervisor/plan/sequence.h"
#include "hypervisor/qmp/card.h"
#include "hypervisor/qmp/guest_job.h"

namespace livebtl::hypervisor {

class Steps {
 public:
  virtual ~Steps() = default;
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  virtual Answer perform(Action action) = 0;

 protected:
  /// `timeout`: of the whole command (budget.h). `stop`: the user wants the machines back; borrowed.
  Steps(TimeNs timeout, const std::atomic<bool>& stop, Progress progress);

  Deadline forward() const;        // ends with the way there, or when the user interrupts
  Deadline uninterrupted() const;  // ... only with the way there
  Deadline afterwards();
  Deadline plugging();
  Deadline diagnosis() const;
  /// For an order to the guest's btlctl, which is not interrupted, but has a time-out of its own.
  Tries tries(GuestOrder order);

  static Answer on(Monitor& monitor, const Monitor::Act& act, const Deadline& deadline);
  /// Not interrupted: a card that was asked for goes, sooner or later, and only if that is waited
  /// for can it be plugged in again. `agent`: of the guest, which may know what keeps the card.
  Answer unplug(Monitor& monitor, const Card& card, GuestAgent* agent);
  /// Into a QEMU that has never had it; into the one that it was pulled from.
  Answer plug(Monitor& monitor, const Card& card);
  Answer plug_again(Monitor& monitor, const Card& card);

  Progress progress_;
  Budget budget_;

 private:
  const std::atomic<bool>& stop_;
  bool plugged_in_ = false;  // a card, by us
};

}  // namespace livebtl::hypervisor
