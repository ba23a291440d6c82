// SPDX-License-Identifier: BSD-3-Clause
// provider/completion.h -- one finished operation, as a completion queue hands it out, and the
// queue that carries it from the engine's side to the application's.
//
// Threads: the engine's side runs under the engine's lock, one thread at a time; the application's
// side holds the domain's gate. Neither waits for the other, and nothing is copied or allocated:
// the operations themselves are linked.
#pragma once

#include <rdma/fabric.h>

#include <atomic>
#include <cstdint>

#include "livebtl/operation.h"

namespace livebtl::fi {

class OpPool;
class Endpoint;

struct Completed {
  std::atomic<Completed*> next{nullptr};
  OpPool* pool = nullptr;        // where it goes back to; null: an event, made by its queue
  Endpoint* endpoint = nullptr;  // null once the endpoint is closed
  void* context = nullptr;
  std::uint64_t flags = 0;
  std::size_t bytes = 0;
  std::size_t bytes_lost = 0;  // cut off, error FI_ETRUNC
  void* buffer = nullptr;
  std::uint64_t data = 0;
  Tag tag = 0;
  Destination source{};
  int error = 0;  // positive, libfabric's

  Completed() noexcept = default;
  /// Describes no message, or none yet.
  void no_message() noexcept {
    bytes = bytes_lost = 0;
    buffer = nullptr;
    data = 0;
    tag = 0;
    source = {};
    error = 0;
  }
  Completed(const Completed&) = delete;
  Completed& operator=(const Completed&) = delete;
};

/// One producer at a time, one consumer at a time, no bound, no atomic read-modify-write. The node
/// taken last stays linked, as the queue's head, until the next is taken.
class CompletedQueue {
 public:
  void push(Completed& node) noexcept {  // producer
    node.next.store(nullptr, std::memory_order_relaxed);
    tail_->next.store(&node, std::memory_order_release);
    tail_ = &node;
  }

  /// The oldest, or null.
  Completed* front() const noexcept {  // consumer
    return head_->next.load(std::memory_order_acquire);
  }
  /// Takes front(), which must not be null. Returns a node that is no longer linked, for its owner
  /// to reuse, or null; never the one just taken, which keeps its content until the next pop().
  Completed* pop() noexcept {  // consumer
    Completed* const spent = head_;
    head_ = head_->next.load(std::memory_order_relaxed);
    return spent == &stub_ ? nullptr : spent;
  }
  /// Calls `visit` for each waiting node.
  template <class Visit>
  void for_each(Visit visit) noexcept {  // consumer
    for (Completed* node = front(); node; node = node->next.load(std::memory_order_acquire)) {
      visit(*node);
    }
  }
  /// The node that is taken but still linked, or null. Only once both sides have stopped.
  Completed* last_taken() noexcept { return head_ == &stub_ ? nullptr : head_; }

 private:
  Completed stub_;
  alignas(64) Completed* tail_ = &stub_;  // producer
  alignas(64) Completed* head_ = &stub_;  // consumer
};

}  // namespace livebtl::fi
