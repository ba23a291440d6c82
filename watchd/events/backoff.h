// SPDX-License-Identifier: BSD-3-Clause
// watchd/events/backoff.h -- how long to wait before something that failed is tried again. Pure.
#pragma once

#include <algorithm>

#include "base/clock.h"
#include "base/random.h"

namespace livebtl::watchd {

struct Backoff {
  TimeNs first = 0, most = 0;

  /// Doubled with each failure, and up to a quarter shorter or longer, so that the machines of a cluster do not ask in
  /// step. failures: in a row, at least 1.
  TimeNs delay(unsigned failures, Random& random) const {
    const unsigned doublings = std::min(failures - 1, 30u);
    const TimeNs plain = first > (most >> doublings) ? most : first << doublings;
    const TimeNs quarter = plain / 4;
    return plain - quarter +
           static_cast<TimeNs>(random.below(2 * static_cast<std::uint64_t>(quarter) + 1));
  }
};

}  // namespace livebtl::watchd
