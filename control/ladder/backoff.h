// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/backoff.h -- when a member is asked again. Pure; part of a machine, and used by its thread.
//
// Messages are lost, so a silent member is asked again. But a slow one collects a queue of questions, which slow it
// down further: it is asked at the rate at which it answers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"

namespace livebtl::control {

class Backoff {
 public:
  /// soon: from an answer to the next question. least, most: from a question to the same again.
  struct Limits {
    TimeNs soon, least, most;
  };

  /// Another question: due at once. What was learnt about the member's speed stays.
  void begin() noexcept { asked_at_ = answered_at_ = INT64_MIN; }
  void asked(TimeNs now, const Limits& limits) noexcept {
    pause_ = waits() ? std::min(2 * pause_, limits.most) : std::max(pause_, limits.least);
    if (!waits()) first_asked_at_ = now;
    asked_at_ = now;
    answered_at_ = INT64_MIN;
  }
  void answered(TimeNs now, const Limits& limits) noexcept {
    if (waits()) pause_ = std::clamp(2 * (now - first_asked_at_), limits.least, limits.most);
    answered_at_ = now;
  }
  TimeNs due_at(const Limits& limits) const noexcept {
    if (asked_at_ == INT64_MIN) return INT64_MIN;
    return waits() ? asked_at_ + pause_ : answered_at_ + limits.soon;
  }
  /// INT64_MIN: not since begin().
  TimeNs asked_at() const noexcept { return asked_at_; }

 private:
  bool waits() const noexcept { return asked_at_ != INT64_MIN && answered_at_ == INT64_MIN; }

  TimeNs first_asked_at_ = INT64_MIN;  // since the last answer
  TimeNs asked_at_ = INT64_MIN, answered_at_ = INT64_MIN;
  TimeNs pause_ = 0;
};

}  // namespace livebtl::control
