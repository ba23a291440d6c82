// SPDX-License-Identifier: BSD-3-Clause
// core/path/box_bodies.h -- the area beside a fast box's slots, for the bytes of messages that do
// not fit into a slot, which then names a piece of the area. This is the writer's half, which
// decides where they lie; the reader's half is a bounds check (BoxBody).
//
// The reader says nothing about the area: a piece is free again when its message has been taken
// (`taken`). To avoid a list of pieces, the area has four parts, filled in turn; a part is entered
// once the reader has taken the last message whose body lies there.
// Threads: under the engine's lock. Pure.
#pragma once

#include <array>
#include <cstdint>

#include "transports/interface/fast_box.h"

namespace livebtl::core {

/// What a slot holds in place of its payload when the bytes lie in the area.
struct BoxBody {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;

  /// For what another process wrote: does the body lie in the area, and is its size permitted?
  bool within_area() const noexcept {
    return bytes <= kBoxBodyBytesMax && offset <= kBoxAreaBytes - bytes;
  }
};
static_assert(sizeof(BoxBody) == sizeof(std::uint64_t));

class BoxBodies {
 public:
  static constexpr std::uint32_t kParts = 4;
  static constexpr std::uint32_t kPartBytes = kBoxAreaBytes / kParts;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// The bytes that a body takes up in its part.
  static constexpr std::uint32_t whole_lines(std::size_t bytes) noexcept {
    return static_cast<std::uint32_t>((bytes + 63) & ~std::size_t{63});
  }

  /// A place for the body of message `seq`; the reader has taken all messages below `taken`. bytes:
  /// at most kBoxBodyBytesMax. kNone: there is none yet.
  std::uint32_t place(std::size_t bytes, std::uint64_t seq, std::uint64_t taken) noexcept {
    const std::uint32_t lines = whole_lines(bytes);
    if (lines > kPartBytes - used_) [[unlikely]] {
      const std::uint32_t next = (part_ + 1) % kParts;
      if (last_[next] >= taken) return kNone;
      part_ = next;
      used_ = 0;
    }
    const std::uint32_t offset = part_ * kPartBytes + used_;
    used_ += lines;
    last_[part_] = seq;
    return offset;
  }

 private:
  std::uint32_t part_ = 0;
  std::uint32_t used_ = 0;                       // bytes of that part in use
  std::array<std::uint64_t, kParts> last_ = {};  // the newest message with a body there
};
static_assert(BoxBodies::kPartBytes >= kBoxBodyBytesMax);

}  // namespace livebtl::core
