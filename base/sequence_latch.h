// SPDX-License-Identifier: BSD-3-Clause
// base/sequence_latch.h -- a value that one thread writes and others copy at any time, without a
// lock: a sequence number and two copies. The number says which copy is complete; the writer fills
// the other one.
//
// So a writer stopped midway leaves a complete copy behind, and readers need not wait.
// Threads: one writer. Readers may be other processes, by read(2): control/place/page_reader.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "base/fence.h"

namespace livebtl {

template <class Value>
struct SequenceLatch {
  static_assert(std::is_trivially_copyable_v<Value>);
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

  /// For the writer. The content is two values old: overwrite all of it, then publish().
  Value& to_fill() noexcept {
    // No byte of the new value may be seen before the last publish(): readers still use this copy.
    full_fence();
    return copies[(sequence.load(std::memory_order_relaxed) + 1) % 2];
  }
  void publish() noexcept {
    sequence.store(sequence.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  alignas(64) std::atomic<std::uint64_t> sequence{0};  // 0: nothing was published
  alignas(64) Value copies[2]{};
};

}  // namespace livebtl
