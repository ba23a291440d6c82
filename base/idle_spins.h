// SPDX-License-Identifier: BSD-3-Clause
// base/idle_spins.h -- how long a thread that waits for the engine spins, and when it yields or
// sleeps. Shared by the waiting code: the libfabric provider and the Open MPI component.
#pragma once

#include <atomic>
#include <cstdint>

#include "livebtl/engine.h"

namespace livebtl {

/// Yields the processor once a reader has polled in vain many times: spinning ranks that outnumber
/// the processors would keep each other from sending. A yield that lasts shows that another thread
/// wanted the processor; then the reader polls only briefly and sleeps until a bell rings, since
/// many threads that yield to each other just keep the scheduler busy
/// (docs/adr/0005-waiting-on-a-shared-processor.md). Threads: any.
class IdleSpins {
 public:
  void found() noexcept { looks_.store(0, std::memory_order_relaxed); }
  void found_nothing(Engine& engine) noexcept {
    if (count_one_in_vain()) [[unlikely]]
      give_way(engine);
  }
  /// Counts a look that found nothing. true: there were enough that it is time to give way.
  bool count_one_in_vain() noexcept {
    const bool crowded = naps_left_.load(std::memory_order_relaxed) != 0;
    const std::uint32_t looks = looks_.load(std::memory_order_relaxed);
    if (looks >= (crowded ? kLooksCrowded : kLooks)) [[unlikely]]
      return true;
    looks_.store(looks + 1, std::memory_order_relaxed);
    return false;
  }

 private:
  static constexpr std::uint32_t kLooks = 2000;
  static constexpr std::uint32_t kLooksCrowded = 50;

  void give_way(Engine& engine) noexcept;

  std::atomic<std::uint32_t> looks_{0};      // in vain, since something was found
  std::atomic<std::uint32_t> naps_left_{0};  // until a yield shows again whether others want to run
};

}  // namespace livebtl
