// SPDX-License-Identifier: BSD-3-Clause
// provider/op_pool.cc -- see op_pool.h.
#include "provider/op_pool.h"

#include <cstring>
#include <new>

#include "provider/provider.h"

namespace livebtl::fi {

bool OpPool::refill() noexcept {
  while (retired_.front()) {
    if (Completed* spent = retired_.pop()) give_back(static_cast<Op&>(*spent));
  }
  if (free_) return true;
  if (made_ + kChunk > limit_) return false;
  try {
    auto chunk = std::make_unique<Op[]>(kChunk);
    for (std::size_t i = kChunk; i-- > 0;) {
      chunk[i].pool = this;
      give_back(chunk[i]);
    }
    chunks_.push_back(std::move(chunk));
  } catch (const std::bad_alloc&) {
    free_ = nullptr;
    return false;
  }
  made_ += kChunk;
  return true;
}

std::byte* bounce_of(Op& op) noexcept {
  if (!op.bounce) op.bounce.reset(new (std::nothrow) std::byte[kBounceBytes]);
  return op.bounce.get();
}

Accept copy_to_bounce(Op& op, std::span<const Slice> slices, Slice& copy) noexcept {
  static_assert(kInjectBytes <= kBounceBytes);
  std::byte* const to = bounce_of(op);
  if (!to) return Accept::kBusy;
  std::size_t bytes = 0;
  for (const Slice& slice : slices) {
    if (slice.bytes > kInjectBytes - bytes) return Accept::kInvalid;
    if (slice.bytes > 0) std::memcpy(to + bytes, slice.data, slice.bytes);
    bytes += slice.bytes;
  }
  copy = {to, bytes};
  return Accept::kAccepted;
}

}  // namespace livebtl::fi
