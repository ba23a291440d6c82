// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_fetch.cc -- see verbs_fetch.h.
#include "transports/verbs/verbs_fetch.h"

#include <algorithm>

#include "base/assert.h"
#include "base/crc32c.h"

namespace livebtl::verbs {
namespace {

/// Nothing slows the answer to a read down. Soft-RoCE lets a sender have 128 packets on their way,
/// of 1 KiB on most networks: ask for no more at once, else switches and guests drop what they
/// cannot queue.
constexpr std::uint32_t kReadBytes = 128u << 10;

}  // namespace

Fetch::Fetch(Device& device, std::uint32_t buffer, Bytes header, const Lent& lent,
             MutableBytes place, Registration region)
    : device_(device),
      buffer_(buffer),
      header_bytes_(static_cast<std::uint8_t>(header.size())),
      lent_(lent),
      target_(place.data()),
      region_(std::move(region)) {
  copy_small(header_.data(), header.data(), header.size());
  if (place.empty()) {
    own_ = std::make_unique_for_overwrite<std::byte[]>(lent.bytes);
    target_ = own_.get();
  }
}

bool Fetch::is_intact() const noexcept {
  return lent_.crc_given == 0 || crc32c(payload()) == lent_.crc;
}

bool Fetch::post(QueuePair& pair) noexcept {
  const std::uint32_t left = lent_.bytes - done_;
  const std::uint32_t bytes =
      std::min(left, region_ ? kReadBytes : static_cast<std::uint32_t>(kBufferBytes));
  std::byte* const to = region_ ? target_ + done_ : device_.receive_buffer(buffer_);
  const ibv_sge piece{reinterpret_cast<std::uint64_t>(to), bytes,
                      region_ ? region_.local_key() : device_.receive_key(buffer_)};
  if (!pair.read(piece, lent_.address + done_, lent_.key)) return false;
  step_ = bytes;
  return true;
}

bool Fetch::step_done() noexcept {
  if (!region_) std::memcpy(target_ + done_, device_.receive_buffer(buffer_), step_);
  done_ += step_;
  step_ = 0;
  if (done_ < lent_.bytes) return false;
  region_.end();
  return true;
}

void Fetch::leave_place() {
  LIVEBTL_ASSERT(!holds_place(), "a device that writes to a place is not told to leave it");
  region_.end();
  if (own_) return;
  own_ = std::make_unique_for_overwrite<std::byte[]>(lent_.bytes);
  std::memcpy(own_.get(), target_, done_);
  target_ = own_.get();
}

}  // namespace livebtl::verbs
