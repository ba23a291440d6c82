// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_memory.h -- memory registered with a device: buffers of one size, in
// pieces that are added as needed; and a user's memory, for the time of one payload.
//
// A child of fork() does not get the buffers (MADV_DONTFORK): copy on write could otherwise take
// away the pages that the device writes to. Children may get a user's memory: kernels from 5.12 on
// leave pinned pages with the parent, before that ibv_fork_init() sees to it.
#pragma once

#include <memory>
#include <vector>

#include "transports/verbs/verbs_address.h"
#include "transports/verbs/verbs_calls.h"

namespace livebtl::verbs {

/// The largest message, rounded up to whole cache lines.
inline constexpr std::size_t kBufferBytes = (messages::kMessageBytesMax + 127) / 128 * 128;

class Memory {
 public:
  static constexpr std::uint32_t kPieceBuffers = 32;

  Memory(Calls& calls, ibv_pd* domain) noexcept : calls_(calls), domain_(domain) {}
  /// Releases all. No queue may refer to it any more.
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Adds kPieceBuffers buffers at the end. Errors: kNoMemory.
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

/// A user's memory in use by the device. Once this has ended, the device does not touch it any
/// more: reads and writes under way there fail, and their queue pair with them.
struct EndRegistration {
  Calls* calls = nullptr;
  std::size_t* sum = nullptr;  // of the bytes of all that exist
  // This fails only if the device has gone, and its access to the memory with it.
  void operator()(ibv_mr* region) const noexcept {
    *sum -= region->length;
    calls->dereg_mr(region);
  }
};
using Registration = std::unique_ptr<ibv_mr, EndRegistration>;

}  // namespace livebtl::verbs
