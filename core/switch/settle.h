// SPDX-License-Identifier: BSD-3-Clause
// core/switch/settle.h -- when something that was lost may be used again: not at first sight, and
// ever later the more often it is lost. Pure: no clock, no socket. One for each transport of a
// process, and one for each over which a pair has lost a path.
#pragma once

#include <algorithm>

#include "base/clock.h"

namespace livebtl::core {

class Settle {
 public:
  static constexpr TimeNs kFirst = 5 * kSecond;
  static constexpr TimeNs kLongest = 300 * kSecond;
  /// After this long in use without a loss, the next one counts as the first.
  static constexpr TimeNs kForgotten = 600 * kSecond;

  /// It is not to be used from now on.
  void lost(TimeNs now) noexcept {
    if (!away_) relapse(now);
    away_ = true;
    there_ = false;
  }
  /// Asked now and then while away(). true: it was there at each look for delay(), and may be used.
  bool look(bool there, TimeNs now) noexcept {
    if (there && !there_) since_ = now;
    if (!there && there_) relapse(now);
    there_ = there;
    return there && now >= due_at();
  }
  /// It is used again, by whatever decision.
  void back(TimeNs now) noexcept {
    if (away_) since_ = now;
    away_ = false;
  }

  bool away() const noexcept { return away_; }
  TimeNs delay() const noexcept { return delay_; }
  /// When it may be used, if it stays there.
  TimeNs due_at() const noexcept { return since_ + delay_; }

 private:
  void relapse(TimeNs now) noexcept {
    const bool forgotten = delay_ == 0 || (!away_ && now - since_ >= kForgotten);
    delay_ = forgotten ? kFirst : std::min(2 * delay_, kLongest);
  }

  TimeNs delay_ = 0;   // 0: never lost
  TimeNs since_ = 0;   // since when it has been there, or in use
  bool away_ = false;  // not in use
  bool there_ = false;
};

}  // namespace livebtl::core
