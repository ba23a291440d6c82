// SPDX-License-Identifier: BSD-3-Clause
// base/clock.h -- time. The only place that asks the operating system; everything else is given
// `now`. CLOCK_MONOTONIC: a VM's stands still while it is paused, its peers' does not.
#pragma once

#include <cstdint>

namespace livebtl {

/// Nanoseconds on the monotonic clock.
using TimeNs = std::int64_t;

inline constexpr TimeNs kMicrosecond = 1'000;
inline constexpr TimeNs kMillisecond = 1'000'000;
inline constexpr TimeNs kSecond = 1'000'000'000;

TimeNs monotonic_now() noexcept;

}  // namespace livebtl
