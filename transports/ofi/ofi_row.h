// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_row.h -- messages of one connection put back in a row, by their numbers. Pure.
//
// A reliable datagram endpoint matches messages to buffers in order, but may complete a small one
// before a large one that was sent sooner.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "transports/messages/credits.h"

namespace livebtl::ofi {

struct Buffer;

/// A receive buffer with a message in it.
struct Arrived {
  Buffer* buffer = nullptr;
  std::uint32_t bytes = 0;
};

class Row {
 public:
  /// At least what a peer may have under way.
  static constexpr std::uint32_t kPlaces = 128;
  static_assert(kPlaces >= messages::kCreditFloor + messages::kSharedBuffers);

  /// under_way: how many a peer may have there that are not taken yet, at most kPlaces. false: it
  /// is none of those, or has come already.
  bool put(std::uint32_t number, const Arrived& message, std::uint32_t under_way) noexcept {
    Arrived& place = at_[number % kPlaces];
    if (number - next_ >= under_way || place.buffer != nullptr) return false;
    place = message;
    ++waiting_;
    return true;
  }
  /// Is the next in the row there?
  bool ready() const noexcept { return at_[next_ % kPlaces].buffer != nullptr; }
  /// Requires: ready().
  Arrived take() noexcept {
    --waiting_;
    return std::exchange(at_[next_++ % kPlaces], {});
  }
  /// Has one come whose predecessor has not?
  bool has_gap() const noexcept { return waiting_ != 0 && !ready(); }
  std::uint32_t next() const noexcept { return next_; }
  /// Any that is there, of whatever number; buffer null: none.
  Arrived drop() noexcept {
    for (Arrived& place : at_) {
      if (place.buffer == nullptr) continue;
      --waiting_;
      return std::exchange(place, {});
    }
    return {};
  }

 private:
  std::array<Arrived, kPlaces> at_{};
  std::uint32_t next_ = 0;
  std::uint32_t waiting_ = 0;
};

}  // namespace livebtl::ofi
