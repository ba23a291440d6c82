// SPDX-License-Identifier: BSD-3-Clause
// control/agent/search_plan.h -- which unreachable peers are asked now where they listen, and when
// the next ones are due.
//
// Pure: time is an argument. Rules (docs/OUTSIDE.md): a few at a time, in turn; once all have been
// asked, the pause doubles, up to some seconds; an event that may have changed their answers ends
// it.
#pragma once

#include <algorithm>
#include <vector>

#include "base/clock.h"
#include "livebtl/types.h"

namespace livebtl::control {

class SearchPlan {
 public:
  static constexpr std::size_t kAtOnce = 16;
  static constexpr TimeNs kPauseLeast = 20 * kMillisecond;
  static constexpr TimeNs kPauseMost = 4 * kSecond;

  /// The peers to ask now, at most kAtOnce; none before due_at(). sought: all of them, sorted.
  std::vector<ProcessId> due(const std::vector<ProcessId>& sought, TimeNs now) {
    std::vector<ProcessId> asked;
    if (now < due_at_ || sought.empty()) return asked;
    const std::size_t count = std::min(kAtOnce, sought.size());
    auto next = std::upper_bound(sought.begin(), sought.end(), last_);
    round_ended_ = false;
    while (asked.size() < count) {
      if (next == sought.end()) next = sought.begin();
      asked.push_back(*next++);
      round_ended_ = round_ended_ || next == sought.end();
    }
    last_ = asked.back();
    if (round_ended_) pause_ = std::clamp(2 * pause_, kPauseLeast, kPauseMost);
    due_at_ = now + std::max(pause_, kPauseLeast);
    return asked;
  }
  TimeNs due_at() const noexcept { return due_at_; }
  /// With the last result of due(), all that are sought have been asked once more.
  bool round_ended() const noexcept { return round_ended_; }
  /// An order was carried out, or somebody is sought anew.
  void hurry() noexcept { due_at_ = pause_ = 0; }

 private:
  TimeNs due_at_ = 0;
  TimeNs pause_ = 0;
  bool round_ended_ = false;
  ProcessId last_{};  // was asked; those after it come next
};

}  // namespace livebtl::control
