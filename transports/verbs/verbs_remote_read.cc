// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_remote_read.cc -- see verbs_remote_read.h.
#include "transports/verbs/verbs_remote_read.h"

#include <algorithm>
#include <new>

#include "base/assert.h"

namespace livebtl::verbs {

RemoteRead::RemoteRead(Device& device, std::uint32_t buffer, Bytes header,
                       const RemoteBuffer& remote, MutableBytes place, Registration region)
    : device_(device),
      buffer_(buffer),
      progress_(header, remote),
      target_(place.data()),
      region_(std::move(region)) {
  if (place.empty()) {
    own_.reset(new (std::nothrow) std::byte[remote.bytes]);
    target_ = own_.get();
  }
}

bool RemoteRead::post(QueuePair& pair) noexcept {
  // Nothing throttles the answer to a read. Soft-RoCE allows a sender 128 packets in flight, of
  // 1 KiB on most networks: ask for no more at once, or switches and guests drop what overflows.
  constexpr std::uint32_t kReadBytes = 128u << 10;
  const std::uint32_t bytes =
      std::min(progress_.left(), region_ ? kReadBytes : static_cast<std::uint32_t>(kBufferBytes));
  std::byte* const to = region_ ? target_ + progress_.done() : device_.receive_buffer(buffer_);
  const ibv_sge piece{reinterpret_cast<std::uint64_t>(to), bytes,
                      region_ ? region_->lkey : device_.receive_key(buffer_)};
  if (!pair.read(piece, progress_.next_address(), progress_.key())) return false;
  progress_.begin_step(bytes);
  return true;
}

bool RemoteRead::step_done() noexcept {
  if (!region_)
    std::memcpy(target_ + progress_.done(), device_.receive_buffer(buffer_), progress_.step());
  if (!progress_.end_step()) return false;
  region_.reset();
  return true;
}

bool RemoteRead::leave_place() noexcept {
  LIVEBTL_ASSERT(!holds_place(), "a device that writes to a place is not told to leave it");
  region_.reset();
  if (own_) return true;
  own_.reset(new (std::nothrow) std::byte[progress_.bytes()]);
  if (!own_) return false;
  std::memcpy(own_.get(), target_, progress_.done());
  target_ = own_.get();
  return true;
}

}  // namespace livebtl::verbs
