// SPDX-License-Identifier: BSD-3-Clause
// provider/op_pool.h -- storage of outstanding operations: a free list that grows by chunks up to a
// limit, beyond which the data calls return -FI_EAGAIN.
//
// Threads:   the application's side takes and gives back, under the domain's gate. The engine's
//            side may only retire an operation that is not reported.
// Ownership: chunks live as long as the domain, since an operation may stay linked in a queue after
//            its endpoint is closed.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "provider/completion.h"

namespace livebtl::fi {

class Counter;
class CompletionQueue;

struct Op : Completed, Operation {
  CompletionQueue* queue = nullptr;  // gets the completion; null: there is none
  Counter* counter = nullptr;        // counts the completion; null: there is none
  bool report = false;               // report success as well as failure
  bool posted = false;               // application's side: taken and not yet given back
  Op* next_free = nullptr;
  std::unique_ptr<std::byte[]> bounce;  // a copy of what an inject call was given; see bounce_of()
  std::size_t scatter_count = 0;        // fetched values wait in `bounce` for these places
  MutableSlice scatter[kSlicesMax];
};

class OpPool {
 public:
  explicit OpPool(std::size_t limit) noexcept : limit_(limit) {}

  /// null: the limit is reached, or no memory.
  Op* take() noexcept {
    if (!free_ && !refill()) [[unlikely]]
      return nullptr;
    Op* const op = free_;
    free_ = op->next_free;
    op->posted = true;
    return op;
  }
  void give_back(Op& op) noexcept {
    op.posted = false;
    op.next_free = free_;
    free_ = &op;
  }
  /// Engine's side.
  void retire(Op& op) noexcept { retired_.push(op); }

  /// Calls `visit` for each taken operation until it returns true.
  template <class Visit>
  bool find(Visit visit) noexcept {
    for (const auto& chunk : chunks_) {
      for (std::size_t i = 0; i < kChunk; ++i) {
        if (chunk[i].posted && visit(chunk[i])) return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::size_t kChunk = 64;

  bool refill() noexcept;

  Op* free_ = nullptr;
  CompletedQueue retired_;
  std::vector<std::unique_ptr<Op[]>> chunks_;
  std::size_t made_ = 0;
  const std::size_t limit_;
};

/// kBounceBytes of memory that belong to the operation; null: no memory.
inline constexpr std::size_t kBounceBytes = 4096;
std::byte* bounce_of(Op& op) noexcept;
/// Copies the request's bytes into the operation, so that the caller may reuse its buffer at once.
/// kInvalid: more than may be injected; kBusy: no memory.
Accept copy_to_bounce(Op& op, std::span<const Slice> slices, Slice& copy) noexcept;

}  // namespace livebtl::fi
