// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_memory.h -- memory that is registered with a device: buffers of one size,
// in pieces that are added when they are needed; and a user's, for the time of one payload.
//
// A child of fork() does not get the buffers (MADV_DONTFORK): with copy on write it could else take
// the pages away that the device writes to. A user's memory is his to give to children: kernels
// from 5.12 on leave pinned pages with the parent, before that ibv_fork_init() sees to it.
#pragma once

#include <utility>
#include <vector>

#include "transports/verbs/verbs_calls.h"
#include "transports/verbs/verbs_remote_buffer.h"

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
class Registration {
 public:
  Registration() = default;
  /// sum: of the bytes of all such, while they last.
  Registration(Calls& calls, ibv_mr* region, std::size_t& sum) noexcept
      : calls_(&calls), region_(region), sum_(&sum) {
    sum += region->length;
  }
  ~Registration() { end(); }
  Registration(Registration&& other) noexcept
      : calls_(other.calls_), region_(std::exchange(other.region_, nullptr)), sum_(other.sum_) {}
  Registration& operator=(Registration&& other) noexcept {
    end();
    calls_ = other.calls_;
    region_ = std::exchange(other.region_, nullptr);
    sum_ = other.sum_;
    return *this;
  }

  explicit operator bool() const noexcept { return region_ != nullptr; }
  std::uint32_t local_key() const noexcept { return region_->lkey; }
  std::uint32_t remote_key() const noexcept { return region_->rkey; }
  // It fails only when the device has gone, and its grip on the memory with it.
  void end() noexcept {
    if (region_ == nullptr) return;
    *sum_ -= region_->length;
    calls_->dereg_mr(std::exchange(region_, nullptr));
  }

 private:
  Calls* calls_ = nullptr;
  ibv_mr* region_ = nullptr;
  std::size_t* sum_ = nullptr;
};

}  // namespace livebtl::verbs
