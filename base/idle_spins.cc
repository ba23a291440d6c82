// SPDX-License-Identifier: BSD-3-Clause
// base/idle_spins.cc -- see idle_spins.h.
#include "base/idle_spins.h"

#include <sched.h>

#include <chrono>

namespace livebtl {
namespace {

bool yield_lasts() noexcept {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds kYielded{20};  // a yield to nobody takes about 1 us
  const Clock::time_point before = Clock::now();
  ::sched_yield();
  return Clock::now() - before > kYielded;
}

}  // namespace

void IdleSpins::give_way(Engine& engine) noexcept {
  constexpr std::int64_t kNapNs = 1'000'000;
  constexpr std::uint32_t kNaps = 16;
  if (const std::uint32_t left = naps_left_.load(std::memory_order_relaxed); left != 0) {
    naps_left_.store(left - 1, std::memory_order_relaxed);
    return engine.wait(kNapNs);
  }
  // One yield in a few thousand lasts because of an interrupt, above all in a virtual machine. A
  // thread that wants to run takes the processor twice.
  if (yield_lasts() && yield_lasts()) naps_left_.store(kNaps, std::memory_order_relaxed);
}

}  // namespace livebtl
