// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/driver/ordering.h -- one switch, through btlctl or directly over the control protocol.
#pragma once

#include <atomic>
#include <string>

#include "base/clock.h"
#include "control/client/job_links.h"

namespace livebtl::e2e {

// Only ends what has already failed: a busy machine may be several times slower than a quiet one.
inline constexpr TimeNs kOrderTimeoutNs = 120 * kSecond;

/// Where the orders go, and by which means.
struct Orders {
  control::JobLinks& links;
  std::string btlctl;  // its path
  const std::atomic<bool>& stop;
};

/// One switch: when it was ordered, how long it took, and who ordered it.
struct Done {
  TimeNs begin = 0;
  double milliseconds = 0;
  double starved_ms = 0;  // part of that: our own wait for a processor
  bool by_btlctl = false;
  bool lost = false;  // to another coordinator, and then finished as btlctl advises
};

/// Errors: the switch failed, or there was nothing to switch.
Result<Done> switch_once(const Orders& orders, bool by_btlctl, const std::string& from,
                         const std::string& to);

}  // namespace livebtl::e2e
