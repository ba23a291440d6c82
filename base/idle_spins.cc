// SPDX-License-Identifier: BSD-3-Clause
// base/idle_spins.cc -- see idle_spins.h.
#include "base/idle_spins.h"

#include <sched.h>

#include <chrono>

namespace livebtl {

void IdleSpins::give_way(Engine& engine) noexcept {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds kYielded{20};  // a yield to nobody takes about one
  constexpr std::int64_t kNapNs = 1'000'000;
  constexpr std::uint32_t kNaps = 16;
  if (const std::uint32_t left = naps_left_.load(std::memory_order_relaxed); left != 0) {
    naps_left_.store(left - 1, std::memory_order_relaxed);
    return engine.wait(kNapNs);
  }
  const Clock::time_point before = Clock::now();
  ::sched_yield();
  if (Clock::now() - before > kYielded) naps_left_.store(kNaps, std::memory_order_relaxed);
}

}  // namespace livebtl
