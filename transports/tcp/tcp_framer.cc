// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_framer.cc -- see tcp_framer.h.
#include "transports/tcp/tcp_framer.h"

#include <algorithm>

#include "base/assert.h"
#include "base/crc32c.h"

namespace livebtl::tcp {

void Framer::lend(std::unique_ptr<InBlock> block) noexcept {
  LIVEBTL_ASSERT(!block_ && block, "one block at a time");
  block_ = std::move(block);
  begin_ = end_ = 0;
}

std::unique_ptr<InBlock> Framer::give_back() noexcept {
  return begin_ == end_ ? std::move(block_) : nullptr;
}

std::unique_ptr<InBlock> Framer::drop() noexcept {
  begin_ = end_ = 0;
  next_frame(0);
  return std::move(block_);
}

std::array<MutableBytes, 2> Framer::room() noexcept {
  auto& bytes = block_->bytes;
  const bool in_block = head_checked_ && place_.empty();
  // What the block must still take: the rest of this frame if it goes here, and some of what
  // follows.
  const std::size_t frame_bytes = in_block ? head_bytes() + prelude_.payload_bytes : end_ - begin_;
  const std::size_t wanted_end = begin_ + std::max(frame_bytes, end_ - begin_) + read_bytes_;
  if (begin_ > 0 && wanted_end > bytes.size()) {
    std::memmove(bytes.data(), bytes.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const std::size_t room_end =
      std::min(bytes.size(), begin_ + std::max(frame_bytes, end_ - begin_) + read_bytes_);
  const MutableBytes tail = MutableBytes(bytes).subspan(end_, room_end - end_);
  if (place_.empty()) {
    last_room_bytes_ = tail.size();
    return {tail, MutableBytes{}};
  }
  const MutableBytes rest = place_.subspan(placed_bytes_);
  last_room_bytes_ = rest.size() + tail.size();
  return {rest, tail};
}

void Framer::filled(std::size_t bytes) noexcept {
  LIVEBTL_ASSERT(bytes <= last_room_bytes_, "no more was read than there was room for");
  if (bytes == last_room_bytes_) read_bytes_ = std::min(read_bytes_ * 2, kReadBytesMax);
  if (!place_.empty()) {
    const std::size_t in_place = std::min(bytes, place_.size() - placed_bytes_);
    placed_bytes_ += in_place;
    bytes -= in_place;
  }
  end_ += bytes;
}

Framer::Stop Framer::parse(core::EndpointSink& sink, std::size_t frames_max,
                           std::size_t& frames) noexcept {
  if (corruption_ != nullptr) return Stop::kCorrupt;
  if (!block_) return Stop::kNeedBytes;
  for (std::size_t count = 0; count < frames_max; ++count) {
    const Step result = step(sink);
    if (result == Step::kCorrupt) return Stop::kCorrupt;
    if (result == Step::kNeedBytes) return Stop::kNeedBytes;
    ++frames;
  }
  return Stop::kBudget;
}

Framer::Step Framer::step(core::EndpointSink& sink) noexcept {
  if (!head_checked_) {
    const Step result = check_head();
    if (result != Step::kFrame) return result;
  }
  if (!place_.empty()) {
    return placed_bytes_ < place_.size() ? Step::kNeedBytes : deliver(sink, place_);
  }
  const std::size_t frame_bytes = head_bytes() + prelude_.payload_bytes;
  if (held().size() >= frame_bytes) {
    return deliver(sink, held().subspan(head_bytes(), prelude_.payload_bytes));
  }
  if (!asked_ && prelude_.payload_bytes >= kPlaceBytesMin) ask_place(sink);
  return Step::kNeedBytes;
}

Framer::Step Framer::check_head() noexcept {
  const Bytes bytes = held();
  if (bytes.size() < sizeof(Prelude)) return Step::kNeedBytes;
  std::memcpy(&prelude_, bytes.data(), sizeof(Prelude));
  // The header's length is needed to find the end of what the checksum covers: bounded, and used
  // only for that.
  if (prelude_.magic != kFrameMagic) return corrupt("not a frame (wrong magic byte)");
  if (prelude_.header_bytes == 0 || prelude_.header_bytes > core::kHeaderBytesMax) {
    return corrupt("impossible header length");
  }
  if (bytes.size() < head_bytes()) return Step::kNeedBytes;
  const Bytes covered = bytes.first(head_bytes()).subspan(sizeof(prelude_.head_crc));
  if (crc32c(covered) != prelude_.head_crc) return corrupt("header checksum mismatch");
  if ((prelude_.flags & ~kFlagPayloadCrc) != 0 || prelude_.reserved != 0)
    return corrupt("reserved bits set");
  if (prelude_.flags == 0 && prelude_.payload_crc != 0) return corrupt("checksum without its flag");
  if (prelude_.payload_bytes > payload_bytes_max_) return corrupt("payload longer than allowed");
  head_checked_ = true;
  return Step::kFrame;
}

void Framer::ask_place(core::EndpointSink& sink) noexcept {
  asked_ = true;
  read_bytes_ = kReadBytesMin;
  const bool has_crc = (prelude_.flags & kFlagPayloadCrc) != 0;
  const MutableBytes place = sink.on_place(header(), prelude_.payload_bytes, has_crc);
  if (place.empty()) return;
  LIVEBTL_ASSERT(place.size() >= prelude_.payload_bytes, "a place holds the whole payload");
  place_ = place.first(prelude_.payload_bytes);
  const Bytes arrived = held().subspan(head_bytes());
  std::memcpy(place_.data(), arrived.data(), arrived.size());
  placed_bytes_ = arrived.size();
  end_ = begin_ + head_bytes();
}

void Framer::own_place() noexcept {
  if (place_.empty() || !own_place_.empty()) return;
  own_place_.resize(place_.size());
  std::memcpy(own_place_.data(), place_.data(), placed_bytes_);
  place_ = own_place_;
}

Framer::Step Framer::deliver(core::EndpointSink& sink, Bytes payload) noexcept {
  const bool has_crc = (prelude_.flags & kFlagPayloadCrc) != 0;
  if (has_crc && crc32c(payload) != prelude_.payload_crc)
    return corrupt("payload checksum mismatch");
  bytes_delivered_ += prelude_.header_bytes + payload.size();
  sink.on_frame(header(), payload);
  next_frame(head_bytes() + (place_.empty() ? payload.size() : 0));
  return Step::kFrame;
}

void Framer::next_frame(std::size_t consumed) noexcept {
  begin_ += consumed;
  if (begin_ == end_) begin_ = end_ = 0;
  head_checked_ = asked_ = false;
  place_ = {};
  placed_bytes_ = 0;
  if (!own_place_.empty()) [[unlikely]]
    own_place_ = {};
}

Framer::Step Framer::corrupt(const char* why) noexcept {
  corruption_ = why;
  return Step::kCorrupt;
}

}  // namespace livebtl::tcp
