// SPDX-License-Identifier: BSD-3-Clause
// core/lane/window.cc -- the byte ring of kept frames: keeping, releasing, and walking for a replay.
// Pure; runs under the engine's lock.
#include "core/lane/window.h"

#include "base/assert.h"

namespace livebtl::core {

Window::Window(std::size_t capacity_bytes)
    : capacity_((capacity_bytes + 7) & ~std::size_t{7}),
      ring_(std::make_unique_for_overwrite<std::byte[]>(capacity_)) {}

void Window::keep(std::uint64_t seq, Bytes header, Bytes payload) noexcept {
  const std::size_t bytes = record_bytes(header.size(), payload.size());
  const std::size_t place = place_for(bytes);
  LIVEBTL_ASSERT(place != kNoPlace, "a frame is kept only if it fits");
  LIVEBTL_ASSERT(seq > newest_seq_ || frames_ == 0,
                 "frames are kept in the order of their numbers");
  if (frames_ == 0) {
    tail_ = 0;
    oldest_seq_ = seq;
  } else if (place < head_) {
    wrap_ = head_;
  }
  const Record record{seq, static_cast<std::uint32_t>(header.size()),
                      static_cast<std::uint32_t>(payload.size())};
  std::byte* const at = ring_.get() + place;
  std::memcpy(at, &record, sizeof record);
  std::memcpy(at + sizeof record, header.data(), header.size());
  if (!payload.empty()) {
    std::memcpy(at + sizeof record + header.size(), payload.data(), payload.size());
  }
  head_ = place + bytes;
  newest_seq_ = seq;
  kept_bytes_ += bytes;
  ++frames_;
}

Window::Record Window::record_at(std::size_t offset) const noexcept {
  Record record;
  std::memcpy(&record, ring_.get() + offset, sizeof record);
  return record;
}

std::size_t Window::offset_behind(std::size_t offset, const Record& record) const noexcept {
  const std::size_t behind = offset + record_bytes(record.header_bytes, record.payload_bytes);
  const bool before_the_skip = head_ <= tail_ && offset >= tail_;
  return before_the_skip && behind == wrap_ ? 0 : behind;
}

void Window::release_below(std::uint64_t ack) noexcept {
  while (frames_ != 0) {
    const Record record = record_at(tail_);
    if (record.seq >= ack) {
      oldest_seq_ = record.seq;
      break;
    }
    const std::size_t behind = offset_behind(tail_, record);
    kept_bytes_ -= record_bytes(record.header_bytes, record.payload_bytes);
    --frames_;
    tail_ = behind;
  }
  if (cursor_.seq < ack) cursor_ = {};
}

std::optional<Window::Kept> Window::at_or_after(std::uint64_t seq) const noexcept {
  if (frames_ == 0 || seq > newest_seq_) return std::nullopt;
  const bool resume = cursor_.seq != 0 && cursor_.seq <= seq;
  std::size_t offset = resume ? cursor_.offset : tail_;
  Record record = record_at(offset);
  while (record.seq < seq) {
    offset = offset_behind(offset, record);
    record = record_at(offset);
  }
  cursor_ = {record.seq, offset};
  const std::byte* const header = ring_.get() + offset + sizeof(Record);
  return Kept{record.seq, Bytes(header, record.header_bytes),
              Bytes(header + record.header_bytes, record.payload_bytes)};
}

}  // namespace livebtl::core
