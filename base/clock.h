// SPDX-License-Identifier: BSD-3-Clause
// base/clock.h -- time. The only place that asks the operating system for it; everything else is
// passed `now`. The clock is CLOCK_MONOTONIC: it stands still in a paused virtual machine, and runs
// on in that machine's peers.
#pragma once

#include <cstdint>
#include <ctime>
#include <limits>

namespace livebtl {

/// Nanoseconds on the monotonic clock.
using TimeNs = std::int64_t;

inline constexpr TimeNs kMicrosecond = 1'000;
inline constexpr TimeNs kMillisecond = 1'000'000;
inline constexpr TimeNs kSecond = 1'000'000'000;
/// No deadline at all.
inline constexpr TimeNs kNoDeadline = std::numeric_limits<TimeNs>::max();

inline TimeNs monotonic_now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);  // cannot fail: the clock exists and the pointer is good
  return now.tv_sec * kSecond + now.tv_nsec;
}

/// Nanoseconds since 1970 on the wall clock, which may jump: for people, never for deadlines.
inline std::uint64_t unix_now_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * std::uint64_t{kSecond} +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace livebtl
