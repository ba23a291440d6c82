// SPDX-License-Identifier: BSD-3-Clause
// ompi/ended_list.h -- the requests that have ended, on their way from the engine to Open MPI.
//
// Operation::done runs under the engine's lock and on any thread, even the agent's. A request must
// not be completed there, since Open MPI then calls back, perhaps into us. So done() puts it here,
// and a thread that moves Open MPI takes it out once the lock is free.
//
// Threads:   push(): any; never waits. take(): any but the agent; of several at once, one gets
//            something.
// Ownership: none; a link is part of its request, and the list's from push() to take().
#pragma once

#include <atomic>

namespace livebtl::ompi {

class EndedList {
 public:
  struct Link {
    Link* next = nullptr;
  };

  void push(Link& link) noexcept {
    Link* newest = newest_.load(std::memory_order_relaxed);
    do {
      link.next = newest;
    } while (!newest_.compare_exchange_weak(newest, &link, std::memory_order_release,
                                            std::memory_order_relaxed));
  }

  /// Takes the oldest; null: there is none, or another thread is just taking one. One at a time, so
  /// that a caller whose request calls back and waits can still see later ones end.
  Link* take() noexcept {
    if (empty()) [[likely]]
      return nullptr;
    if (taking_.exchange(true, std::memory_order_acquire)) return nullptr;
    Link* oldest = sorted_.load(std::memory_order_relaxed);
    if (oldest == nullptr) oldest = reversed(newest_.exchange(nullptr, std::memory_order_acquire));
    if (oldest != nullptr) sorted_.store(oldest->next, std::memory_order_relaxed);
    taking_.store(false, std::memory_order_release);
    return oldest;
  }

  bool empty() const noexcept {
    return newest_.load(std::memory_order_relaxed) == nullptr &&
           sorted_.load(std::memory_order_relaxed) == nullptr;
  }

 private:
  static Link* reversed(Link* newest) noexcept {
    Link* oldest = nullptr;
    while (newest != nullptr) {
      Link* const older = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = older;
    }
    return oldest;
  }

  std::atomic<Link*> newest_{nullptr};  // as pushed: the newest first
  std::atomic<Link*> sorted_{
      nullptr};  // the oldest first; written by the thread that holds taking_
  std::atomic<bool> taking_{false};
};

}  // namespace livebtl::ompi
