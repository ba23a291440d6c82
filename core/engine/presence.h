// SPDX-License-Identifier: BSD-3-Clause
// core/engine/presence.h -- whether the application moves the engine, or is away so that the agent
// must. While the application calls in, it keeps postponing a timer, which tells the agent when it
// has gone.
//
// The agent attends to an absence after one to two times LIVEBTL_AWAY_US. If it had nothing to
// answer in that absence, nobody needs it: for three seconds from then on, absences alone do not
// wake it. An application that leaves a thousand times a second, and is not missed, thus costs a
// wake-up every three seconds, or two if a deadline follows. A false alarm has the same effect.
// While threads announce that they leave (fi_trywait), the three seconds become 50 ms: a thread
// that has left may wait for what would lie undone during another's absence.
// Threads: the agent reads; calls that describe the application are made under the engine's lock,
// except extend() and busy(). Owns the timer.
#pragma once

#include <atomic>

#include "base/clock.h"
#include "base/fd.h"

namespace livebtl::core {

class Presence {
 public:
  /// away: LIVEBTL_AWAY_US. sets_timer: false where time is virtual; fd() is then never readable.
  Presence(TimeNs away, bool sets_timer);

  /// false: it got no descriptor.
  bool usable() const noexcept { return static_cast<bool>(timer_); }

  /// The application moves the engine; called at each housekeeping.
  void here(TimeNs now) noexcept {
    if (now - told_at_ >= away_) [[unlikely]]
      put_off(now);
  }
  /// The application has entered again, after attend().
  void returned(TimeNs now) noexcept;
  /// Whatever earlier absences have shown, the next one, or this one, is attended to.
  void expect_work(TimeNs now) noexcept;
  /// The application leaves now, and wants to be woken when something has come.
  void leave(TimeNs now) noexcept;

  /// For the agent.
  bool away(TimeNs now) const noexcept { return now >= until_.load(std::memory_order_relaxed); }
  /// False alarm: the application sleeps in the engine, and need not report that. in_ladder: the
  /// next absence is attended to all the same. Without the lock.
  void extend(TimeNs now, bool in_ladder) noexcept;
  /// The application is inside the engine for a moment. If it has announced that it leaves, that
  /// stands: the agent is to look again soon. Without the lock.
  void busy(TimeNs now, bool in_ladder) noexcept;
  /// The agent takes a turn for an absent application. prompt: every absence is attended to;
  /// in_ladder: every one, except within 50 ms of one that was short.
  void attend(TimeNs now, bool prompt, bool in_ladder) noexcept;
  /// Somebody was answered in this absence.
  void answered() noexcept { answered_ = true; }
  /// Readable when it is time to check whether the application is away.
  int fd() const noexcept { return timer_.number(); }

 private:
  void put_off(TimeNs now) noexcept;
  bool has_left(TimeNs now) const noexcept;
  void set_timer(TimeNs in) const noexcept;
  void stop_timer() const noexcept;

  const TimeNs away_;
  const bool sets_timer_;
  Fd timer_;
  std::atomic<TimeNs> until_{0};                // the application counts as present until then
  TimeNs told_at_ = -kSecond;                   // when until_ was last postponed
  std::atomic<TimeNs> quiet_until_{0};          // no absence is attended to before then
  std::atomic<TimeNs> left_at_{-60 * kSecond};  // when leave() was last called; long ago: never
  TimeNs attended_at_ = 0;                      // the agent's first turn in this absence
  bool attended_ = false;                       // the agent has attended to this absence
  bool answered_ = false;                       // ... and not in vain
  bool in_ladder_ = false;                      // ... in mid-ladder
};

}  // namespace livebtl::core
