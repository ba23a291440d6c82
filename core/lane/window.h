// SPDX-License-Identifier: BSD-3-Clause
// core/lane/window.h -- the ordered lane's memory: frames sent on a path that may lose them, until they
// are acknowledged.
//
// A byte ring of fixed size, one per peer that uses a keeping path; allocated once, by the
// constructor. Pure; no I/O. Each frame is contiguous (record head, header, payload), so the end of
// the ring may be skipped: frames that add up to the capacity do not always fit together, but any
// single frame up to the capacity fits an empty window.
// Invariants: frames are kept and released in sequence order; what was released is never seen again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/bytes.h"

namespace livebtl::core {

class Window {
 public:
  /// capacity_bytes: headers and payloads of all kept frames, plus 16 per frame.
  explicit Window(std::size_t capacity_bytes);

  /// Would a frame of this size fit now?
  bool fits(std::size_t header_bytes, std::size_t payload_bytes) const noexcept {
    return place_for(record_bytes(header_bytes, payload_bytes)) != kNoPlace;
  }
  /// Copies a frame. seq: higher than that of any kept frame. Requires: fits().
  void keep(std::uint64_t seq, Bytes header, Bytes payload) noexcept;
  /// Drops all frames with a number below `ack`.
  void release(std::uint64_t ack) noexcept {
    if (frames_ != 0 && oldest_seq_ < ack) release_below(ack);
  }

  struct Kept {
    std::uint64_t seq = 0;
    Bytes header;  // in the ring; valid until the next keep() or release()
    Bytes payload;
  };
  /// The first kept frame with number >= seq; nullopt: none. Cheap when called with rising numbers.
  std::optional<Kept> at_or_after(std::uint64_t seq) const noexcept;

  bool empty() const noexcept { return frames_ == 0; }
  /// As counted against the capacity: 16 more per frame, each rounded up to 8.
  std::size_t kept_bytes() const noexcept { return kept_bytes_; }
  std::size_t kept_frames() const noexcept { return frames_; }
  std::size_t capacity_bytes() const noexcept { return capacity_; }

 private:
  struct Record {
    std::uint64_t seq;
    std::uint32_t header_bytes;
    std::uint32_t payload_bytes;
  };
  static_assert(sizeof(Record) == 16);
  /// A kept frame and where it lies.
  struct Cursor {
    std::uint64_t seq = 0;
    std::size_t offset = 0;
  };
  static constexpr std::size_t kNoPlace = ~std::size_t{0};

  static constexpr std::size_t record_bytes(std::size_t header_bytes,
                                            std::size_t payload_bytes) noexcept {
    return (sizeof(Record) + header_bytes + payload_bytes + 7) & ~std::size_t{7};
  }
  /// Where a record of that size would go.
  std::size_t place_for(std::size_t bytes) const noexcept {
    if (frames_ == 0) return bytes <= capacity_ ? 0 : kNoPlace;
    if (head_ <= tail_) return tail_ - head_ >= bytes ? head_ : kNoPlace;
    if (capacity_ - head_ >= bytes) return head_;
    return tail_ >= bytes ? 0 : kNoPlace;
  }
  Record record_at(std::size_t offset) const noexcept;
  /// The offset of the record after the one at `offset`; meaningless after the newest.
  std::size_t offset_behind(std::size_t offset, const Record& record) const noexcept;
  void release_below(std::uint64_t ack) noexcept;

  std::size_t capacity_;
  std::unique_ptr<std::byte[]> ring_;
  std::size_t head_ = 0;  // where the next record goes, if it fits before the end or the tail
  std::size_t tail_ = 0;  // the oldest record; frames_ > 0 and head_ <= tail_: the records wrap
  std::size_t wrap_ = 0;  // wrapped: where the records before the skipped end stop
  std::size_t frames_ = 0;
  std::size_t kept_bytes_ = 0;
  std::uint64_t oldest_seq_ = 0;  // frames_ > 0: of the record at tail_
  std::uint64_t newest_seq_ = 0;  // of the last record kept, even if released
  mutable Cursor cursor_;         // where the last at_or_after() found something; seq 0: nowhere
};

}  // namespace livebtl::core
