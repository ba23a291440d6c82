// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_memory.h -- buffers of one size that are registered with a device, in
// pieces that are added when they are needed.
//
// A child of fork() does not get them (MADV_DONTFORK): with copy on write it could else take the
// pages away that the device writes to.
#pragma once

#include <vector>

#include "transports/verbs/verbs_calls.h"
#include "transports/verbs/verbs_frame.h"

namespace livebtl::verbs {

/// The largest message, up to a whole number of cache lines.
inline constexpr std::size_t kBufferBytes = (kMessageBytesMax + 127) / 128 * 128;

class Memory {
 public:
  static constexpr std::uint32_t kPieceBuffers = 32;

  Memory(Calls& calls, ibv_pd* domain) noexcept : calls_(calls), domain_(domain) {}
  /// Gives all back. No queue refers to it any more.
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// kPieceBuffers more; they are the last ones. Errors: kNoMemory.
  Status add_piece();
  std::uint32_t count() const noexcept {
    return static_cast<std::uint32_t>(pieces_.size()) * kPieceBuffers;
  }
  std::byte* at(std::uint32_t buffer) const noexcept {
    return pieces_[buffer / kPieceBuffers].begin + buffer % kPieceBuffers * kBufferBytes;
  }
  std::uint32_t key(std::uint32_t buffer) const noexcept {
    return pieces_[buffer / kPieceBuffers].region->lkey;
  }

 private:
  struct Piece {
    std::byte* begin = nullptr;
    ibv_mr* region = nullptr;
  };

  Calls& calls_;
  ibv_pd* domain_;
  std::vector<Piece> pieces_;
};

}  // namespace livebtl::verbs
