// SPDX-License-Identifier: BSD-3-Clause
// ompi/ended_list.h -- the requests that have ended, on their way from the engine to Open MPI.
//
// Operation::done runs under the engine's lock and on any thread, even the agent's. A request must
// not be completed there, since Open MPI then calls back, perhaps into us. So done() puts it here,
// and a thread that moves Open MPI takes it out once the lock is free.
//
// A short ring carries what has ended, without an atomic read-modify-write; what finds it full goes
// to a list of any length. What ends in a call of the program's has a list of its own.
//
// Threads:   push(): any, under the engine's lock. push_from_call(): any. They never wait. take():
//            any but the agent; of several at once, one gets something.
// Ownership: none; a link is part of its request, and the list's from push() to take().
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "ompi/threads.h"

namespace livebtl::ompi {

class EndedList {
 public:
  struct Link {
    Link* next = nullptr;
  };
  static constexpr std::size_t kRing = 64;

  /// From Operation::done.
  void push(Link& link) noexcept {
    std::atomic<Link*>& slot = ring_[pushed_at_ % kRing];
    // What is on the list already is older.
    if (newest_.load(std::memory_order_relaxed) != nullptr ||
        slot.load(std::memory_order_acquire) != nullptr) [[unlikely]]
      return push_on(newest_, link);
    slot.store(&link, std::memory_order_release);
    ++pushed_at_;
  }

  /// Without the engine's lock. Taken after all that was pushed under it.
  void push_from_call(Link& link) noexcept { push_on(called_, link); }

  /// Takes the oldest; null: there is none, or another thread is just taking one. One at a time, so
  /// that a caller whose request calls back and waits can still see later ones end.
  Link* take(Threads threads) noexcept {
    if (empty()) [[likely]]
      return nullptr;
    if (threads == Threads::kOne) return take_oldest();
    if (taking_.exchange(true, std::memory_order_acquire)) return nullptr;
    Link* const oldest = take_oldest();
    taking_.store(false, std::memory_order_release);
    return oldest;
  }

  bool empty() const noexcept {
    const std::size_t at = taken_at_.load(std::memory_order_relaxed);
    return ring_[at % kRing].load(std::memory_order_relaxed) == nullptr &&
           newest_.load(std::memory_order_relaxed) == nullptr &&
           sorted_.load(std::memory_order_relaxed) == nullptr &&
           called_.load(std::memory_order_relaxed) == nullptr;
  }

 private:
  Link* take_oldest() noexcept {
    if (Link* const oldest = sorted_.load(std::memory_order_relaxed)) [[unlikely]] {
      sorted_.store(oldest->next, std::memory_order_relaxed);
      return oldest;
    }
    // First: as long as the list is not empty, nothing comes into the ring.
    const bool listed = newest_.load(std::memory_order_acquire) != nullptr;
    if (Link* const oldest = take_from_ring()) return oldest;
    if (listed) return take_list(newest_);
    return called_.load(std::memory_order_relaxed) != nullptr ? take_list(called_) : nullptr;
  }

  static void push_on(std::atomic<Link*>& list, Link& link) noexcept {
    Link* newest = list.load(std::memory_order_relaxed);
    do {
      link.next = newest;
    } while (!list.compare_exchange_weak(newest, &link, std::memory_order_release,
                                         std::memory_order_relaxed));
  }

  Link* take_from_ring() noexcept {
    const std::size_t at = taken_at_.load(std::memory_order_relaxed);
    std::atomic<Link*>& slot = ring_[at % kRing];
    Link* const oldest = slot.load(std::memory_order_acquire);
    if (oldest == nullptr) return nullptr;
    slot.store(nullptr, std::memory_order_release);
    taken_at_.store(at + 1, std::memory_order_relaxed);
    return oldest;
  }

  // in: a list that is not empty. out: the oldest; the others are sorted, the oldest first.
  Link* take_list(std::atomic<Link*>& list) noexcept {
    Link* oldest = nullptr;
    Link* newest = list.exchange(nullptr, std::memory_order_acquire);
    while (newest != nullptr) {
      Link* const older = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = older;
    }
    sorted_.store(oldest->next, std::memory_order_relaxed);
    return oldest;
  }

  std::size_t pushed_at_ = 0;             // in the ring; under the engine's lock
  std::atomic<std::size_t> taken_at_{0};  // likewise; written by the thread that takes
  std::atomic<Link*> sorted_{nullptr};    // what was a list, the oldest first; written likewise
  std::atomic<Link*> newest_{nullptr};    // what found the ring full, the newest first
  std::atomic<Link*> called_{nullptr};    // what ended in calls, the newest first
  std::atomic<bool> taking_{false};
  std::array<std::atomic<Link*>, kRing> ring_{};  // null: free
};

}  // namespace livebtl::ompi
