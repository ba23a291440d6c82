// SPDX-License-Identifier: BSD-3-Clause
// core/engine/presence.h -- does the application move the engine, or is it away so that the agent has to? A timer
// that the application puts off as long as it calls tells the agent when it has gone.
//
// An absence is attended to after one to two times LIVEBTL_AWAY_US. One in which the agent had nothing to answer says
// that nobody needs it: for three seconds from then on the agent is not woken by absences alone. So an application that
// leaves a thousand times a second, and is not missed, costs a wake-up every three seconds, or two if a deadline
// follows. The same follows from a false alarm. While threads say that they leave (fi_trywait) it is 50 ms in place of
// three seconds: one that has left may wait for what another's absence would leave lying.
// Threads: the agent reads; all that is said of the application is said under the engine's lock, but for
// extend(). Owns the timer.
#pragma once

#include <atomic>

#include "base/clock.h"
#include "base/fd.h"

namespace livebtl::core {

class Presence {
 public:
  /// away: LIVEBTL_AWAY_US. sets_timer: false where time is virtual, and fd() never shows anything.
  Presence(TimeNs away, bool sets_timer);

  /// false: there was no descriptor.
  bool usable() const noexcept { return static_cast<bool>(timer_); }

  /// The application moves the engine: at each housekeeping.
  void here(TimeNs now) noexcept {
    if (now - told_at_ >= away_) [[unlikely]]
      put_off(now);
  }
  /// The application has entered, after attend().
  void returned(TimeNs now) noexcept;
  /// Whatever was learned of earlier absences: the next one is attended to, or this one.
  void expect_work(TimeNs now) noexcept;
  /// The application leaves now, and wants to be woken when something has come.
  void leave(TimeNs now) noexcept;

  /// The agent's.
  bool away(TimeNs now) const noexcept { return now >= until_.load(std::memory_order_relaxed); }
  /// The application sleeps in the engine, and need not say so: false alarm. in_ladder: the next absence is to be
  /// attended to all the same. Without the lock.
  void extend(TimeNs now, bool in_ladder) noexcept;
  /// The application is inside, for a moment. If it has said before that it leaves, that stands: the agent is to look again
  /// soon. Without the lock.
  void busy(TimeNs now, bool in_ladder) noexcept;
  /// The agent takes a turn for an application that is away. prompt: every absence is to be attended to; in_ladder:
  /// every one, but for 50 ms after one that was short.
  void attend(TimeNs now, bool prompt, bool in_ladder) noexcept;
  /// In this absence somebody was given an answer.
  void answered() noexcept { answered_ = true; }
  /// Readable when it is time to look whether the application is away.
  int fd() const noexcept { return timer_.number(); }

 private:
  void put_off(TimeNs now) noexcept;
  bool has_left(TimeNs now) const noexcept;
  void set_timer(TimeNs in) const noexcept;
  void stop_timer() const noexcept;

  const TimeNs away_;
  const bool sets_timer_;
  Fd timer_;
  std::atomic<TimeNs> until_{0};        // it counts as present until then
  TimeNs told_at_ = -kSecond;           // until_ was put off last
  std::atomic<TimeNs> quiet_until_{0};  // no absence is attended to before
  std::atomic<TimeNs> left_at_{-60 *
                               kSecond};  // a thread has said last that it leaves; long ago: none
  TimeNs attended_at_ = 0;                // the agent's first turn in this absence
  bool attended_ = false;                 // this absence is
  bool answered_ = false;                 // ... and was not in vain
  bool in_ladder_ = false;                // ... and was in mid-ladder
};

}  // namespace livebtl::core
