// SPDX-License-Identifier: BSD-3-Clause
// control/client/time_limit.h -- how long an answer may be waited for, and what ends the wait early.
#pragma once

#include <algorithm>
#include <atomic>

#include "base/clock.h"

namespace livebtl::control {

struct TimeLimit {
  TimeNs timeout = 0;
  const std::atomic<bool>& stop;

  /// What is left of it at `now` if it began at `begun`.
  TimeLimit since(TimeNs begun, TimeNs now) const noexcept {
    return {std::max<TimeNs>(timeout - (now - begun), 0), stop};
  }
};

}  // namespace livebtl::control
