// SPDX-License-Identifier: BSD-3-Clause
// long_hold.h -- the hold that tests order, with a lease that outlasts them.
#pragma once

#include "base/clock.h"

namespace livebtl::test {

inline constexpr TimeNs kLong = 100 * kSecond;
inline constexpr std::uint64_t kHold = 5;

}  // namespace livebtl::test
