// SPDX-License-Identifier: BSD-3-Clause
// core/switch/fence.h -- which incarnation of the job this process belongs to, and whom it may talk
// to.
//
// A job that is restored from snapshots may still run where it was before. All processes of the
// restored set are raised to a higher incarnation before they send again; a process that meets a
// higher one than its own is a copy that was left behind, and is fenced out for ever. A process has
// none (0) until it can have a copy, or has met a process that can: it adopts what it meets, even
// from one that had none when they first spoke. docs/HOLD.md has the rules.
//
// Pure. Threads: under the engine's lock, but for out().
#pragma once

#include <atomic>

#include "livebtl/types.h"

namespace livebtl::core {

class Fence {
 public:
  Incarnation own() const noexcept { return own_; }
  /// Fenced out: sends nothing to anybody, and takes nothing from anybody.
  bool out() const noexcept { return out_.load(std::memory_order_relaxed); }
  /// The hold from whose snapshots this process was restored last; 0: never.
  std::uint64_t restored_from() const noexcept { return restored_from_; }

  /// The process is held: from now on it may have a copy. job: the highest incarnation known in the
  /// job. true: it had none before.
  bool settle(Incarnation job) noexcept {
    if (own_ != Incarnation{}) return false;
    own_ = job;
    return true;
  }
  /// The process is restored. Requires: `to` is above own(). Lets in a process that was fenced out.
  void raise(Incarnation to, std::uint64_t hold) noexcept {
    own_ = to;
    restored_from_ = hold;
    out_.store(false, std::memory_order_relaxed);
  }

  /// Seconds since 1970 reach this in 2097, with room for a restore that counts on from there. A
  /// process that claims more is neither adopted nor believed to fence anybody out. (Without
  /// authentication any stranger can claim it.)
  static constexpr Incarnation kBelievedBelow{0xf000'0000};

  enum class Meeting {
    kSame,
    kOlder,    // the other end was left behind, has none yet, or an impossible one: not talked to
    kAdopted,  // we had none, and took theirs: ask again
    kFenced,   // we were left behind
  };
  /// Another process of the job has proved that it is of that incarnation.
  Meeting meet(Incarnation theirs) noexcept {
    if (theirs == own_) return Meeting::kSame;
    if (theirs < own_ || theirs >= kBelievedBelow) return Meeting::kOlder;
    if (own_ == Incarnation{}) {
      own_ = theirs;
      return Meeting::kAdopted;
    }
    out_.store(true, std::memory_order_relaxed);
    return Meeting::kFenced;
  }

 private:
  Incarnation own_{};
  std::uint64_t restored_from_ = 0;
  std::atomic<bool> out_{false};
};

}  // namespace livebtl::core
