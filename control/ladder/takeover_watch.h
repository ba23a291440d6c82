// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/takeover_watch.h -- when a member is to finish, unasked, what a coordinator left.
//
// Pure: time and randomness are arguments. In the product each member's agent asks it (takeover.h),
// in the simulator a stand-in. docs/SWITCH.md has the rules, tests/model/takeover.pml checks them.
#pragma once

#include "control/ladder/coordinator.h"
#include "control/ladder/member.h"

namespace livebtl::control {

class TakeoverWatch {
 public:
  explicit TakeoverWatch(std::uint64_t random) noexcept;

  /// When to ask due(); INT64_MAX: not before something changes at the member.
  TimeNs due_at(const MemberMachine& member) const noexcept;
  /// Is it time? A process that asks long after due_at() was itself stopped, and may be wrong that
  /// no coordinator is at work: it is told to wait once more, so that it can hear of others.
  bool due(const MemberMachine& member, TimeNs now) noexcept;
  /// It was time, but another member is to do it.
  void not_ours(TimeNs now) noexcept;
  /// Has nobody done it, although those before us had time for all their looks? The lowest member
  /// may be at rest, and know of nothing to finish. before_us: the number of members whose turn
  /// comes earlier, so that not all begin at once.
  bool left_alone(std::size_t before_us) const noexcept;
  /// We tried. If in vain, the next try comes later each time.
  void tried(bool in_vain, TimeNs now) noexcept;

 private:
  TimeNs delay_;  // after the lease: random, so that two members seldom try at once
  TimeNs not_before_ = 0;
  TimeNs pause_ = 0;
  bool overslept_ = false;
  TimeNs since_ = 0;       // abandoned_since() of the ladder that looks_ is about
  std::size_t looks_ = 0;  // how often it was not ours
};

/// `btlctl resume`, given by the job itself: it never takes over from a living coordinator.
Command takeover_command(std::string job, std::uint64_t coordinator);

}  // namespace livebtl::control
