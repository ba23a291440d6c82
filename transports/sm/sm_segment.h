// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_segment.h -- the memory of one connection: two rings and two fast boxes in a
// sealed memfd, mapped by both processes.
//
// Sealed against shrinking and growing, so that no peer can make an access here fault. Ownership: a
// Segment owns its mapping; the descriptor is needed only until the peer has it.
#pragma once

#include <array>

#include "base/fd.h"
#include "transports/sm/sm_ring.h"
#include "transports/sm/sm_zero_copy.h"

namespace livebtl::sm {

/// Of the segment's layout and of what is sent beside it; the same at both ends.
inline constexpr std::uint8_t kSegmentVersion = 5;

struct Unmap {
  std::size_t bytes = 0;
  void operator()(std::byte* base) const noexcept;
};

class Segment {
 public:
  struct Made;
  /// ring_bytes: a power of two in [kRingBytesMin, kRingBytesMax]. Errors: kNoMemory, kSystem.
  static Result<Made> make(std::size_t ring_bytes);
  /// Maps what a peer sent. Errors: kInvalid (not sealed, wrong size), kSystem.
  static Result<Segment> adopt(const Fd& memory, std::size_t ring_bytes);

  /// Ring 0 goes from the dialler to the acceptor, ring 1 back.
  RingWriter writer(std::size_t ring) noexcept;
  RingReader reader(std::size_t ring) noexcept;
  /// The fast box of that direction; pages that nobody touches take no memory.
  core::BoxMemory box(std::size_t ring) noexcept;
  /// For payloads exposed in that ring.
  ZeroCopyWords& exposures(std::size_t ring) noexcept;
  /// kExposureBytesMax beside those, with pages as in box().
  std::byte* spare(std::size_t ring) noexcept;

 private:
  static Result<Segment> map(const Fd& memory, std::size_t ring_bytes);
  std::byte* data(std::size_t ring) noexcept;
  RingWords& words(std::size_t ring) noexcept;

  std::unique_ptr<std::byte, Unmap> base_;
  std::size_t ring_bytes_ = 0;
};

struct Segment::Made {
  Segment segment;
  Fd memory;
};

}  // namespace livebtl::sm
