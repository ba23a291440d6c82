// SPDX-License-Identifier: BSD-3-Clause
// ompi/life.h -- settles who gives a request back: its user, who may free it before it has ended,
// or the thread that completes it.
//
// The thread that completes a request wakes the user before it is done with the request itself.
// Meanwhile the user may free it, start it again, or even get it anew from the pool. So each start
// begins a new turn; the completing thread says which turn it ends, and ending an old one is void.
//
// Threads: any; the state is one word. With Threads::kOne, one thread ends and frees. Turns are never
// reset, not even on recycling.
#pragma once

#include <atomic>
#include <cstdint>

#include "ompi/threads.h"

namespace livebtl::ompi {

class Life {
 public:
  using Turn = std::uint64_t;

  /// Begins a turn: neither ended nor freed.
  void begin() noexcept { word_.store((turn() + 1) << kShift, std::memory_order_relaxed); }
  Turn turn() const noexcept { return word_.load(std::memory_order_relaxed) >> kShift; }

  /// Ends that turn; the caller must not touch the request any more. true: except to give it back,
  /// as its user has freed it.
  bool end(Turn ended, Threads threads) noexcept {
    std::uint64_t now = word_.load(std::memory_order_relaxed);
    if (threads == Threads::kOne) {
      if (now >> kShift != ended) return false;
      word_.store(now | kEnded, std::memory_order_relaxed);
      return (now & kFreed) != 0;
    }
    do {
      if (now >> kShift != ended) return false;
    } while (!word_.compare_exchange_weak(now, now | kEnded, std::memory_order_acq_rel));
    return (now & kFreed) != 0;
  }

  /// The user is done with it. true: it has ended, and the caller must give it back; false: the
  /// thread that completes it will.
  bool free(Threads threads) noexcept {
    if (threads == Threads::kSeveral)
      return (word_.fetch_or(kFreed, std::memory_order_acq_rel) & kEnded) != 0;
    const std::uint64_t now = word_.load(std::memory_order_relaxed);
    word_.store(now | kFreed, std::memory_order_relaxed);
    return (now & kEnded) != 0;
  }

 private:
  static constexpr unsigned kShift = 2;
  static constexpr std::uint64_t kEnded = 1;
  static constexpr std::uint64_t kFreed = 2;

  std::atomic<std::uint64_t> word_{kEnded};
};

}  // namespace livebtl::ompi
