// SPDX-License-Identifier: BSD-3-Clause
// provider/gate.h -- the lock on what the application's threads share in one domain (free lists,
// reading ends of queues). A program that asked for FI_THREAD_DOMAIN serialises its own calls; for
// it the lock costs nothing.
//
// Lock order: the gate before the engine's lock. Nothing that runs under the latter takes the gate.
#pragma once

#include <sched.h>

#include <atomic>

namespace livebtl::fi {

class Gate {
 public:
  /// on: calls come from several threads at once.
  explicit Gate(bool on) noexcept : on_(on) {}

  void lock() noexcept {
    if (!on_) return;
    while (held_.exchange(true, std::memory_order_acquire)) wait_until_free();
  }
  void unlock() noexcept {
    if (on_) held_.store(false, std::memory_order_release);
  }

 private:
  static void relax() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
  void wait_until_free() noexcept {
    for (int spins = 0; held_.load(std::memory_order_relaxed); ++spins) {
      if (spins < 100) {
        relax();
      } else {
        ::sched_yield();
      }
    }
  }

  std::atomic<bool> held_{false};
  const bool on_;
};

}  // namespace livebtl::fi
