// SPDX-License-Identifier: BSD-3-Clause
// base/deadline.h -- until when to wait. A value type; `stop` is the caller's and outlives it.
#pragma once

#include <algorithm>
#include <atomic>

#include "base/clock.h"

namespace livebtl {

/// A point in time; ends earlier if the user interrupts.
struct Deadline {
  TimeNs at = 0;
  const std::atomic<bool>* stop = nullptr;  // nullptr: nothing ends it early

  bool stopped() const noexcept { return stop != nullptr && stop->load(); }
  /// The same deadline, but at most `duration` from now.
  Deadline at_most(TimeNs duration) const noexcept {
    return {std::min(at, monotonic_now() + duration), stop};
  }
};

}  // namespace livebtl
