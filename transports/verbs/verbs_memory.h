// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_memory.h -- memory that is registered with a device: buffers of one size,
// in pieces that are added when they are needed; and a user's, for the time of one payload.
//
// A child of fork() does not get the buffers (MADV_DONTFORK): with copy on write it could else take
// the pages away that the device writes to. A user's memory is his to give to children: kernels
// from 5.12 on leave pinned pages with the parent, before that ibv_fork_init() sees to it.
#pragma once

#include <memory>
#include <vector>

#include "transports/verbs/verbs_address.h"
#include "transports/verbs/verbs_calls.h"

namespace livebtl::verbs {

/// The largest message, up to a whole number of cache lines.
inline constexpr std::size_t kBufferBytes = (messages::kMessageBytesMax + 127) / 128 * 128;

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

/// A user's memory in the device's hands. Once this has ended, the device does not touch it any
/// more: what it had been told to read or write there fails, and its queue pair with it.
struct EndRegistration {
  Calls* calls = nullptr;
  std::size_t* sum = nullptr;  // of the bytes of all such, while they last
  // It fails only when the device has gone, and its grip on the memory with it.
  void operator()(ibv_mr* region) const noexcept {
    *sum -= region->length;
    calls->dereg_mr(region);
  }
};
using Registration = std::unique_ptr<ibv_mr, EndRegistration>;

}  // namespace livebtl::verbs
