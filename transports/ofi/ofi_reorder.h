// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_reorder.h -- messages of one connection put back in order by number. Pure.
//
// A reliable datagram endpoint matches messages to buffers in order, but may complete a small one
// before a large one that was sent earlier.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "base/clock.h"
#include "transports/messages/credits.h"

namespace livebtl::ofi {

struct Buffer;

/// A receive buffer with a message in it.
struct Arrived {
  Buffer* buffer = nullptr;
  std::uint32_t bytes = 0;
};

class ReorderWindow {
 public:
  /// No fewer than a peer may have under way.
  static constexpr std::uint32_t kPlaces = 128;
  static_assert(kPlaces >= messages::kCreditFloor + messages::kSharedBuffers);

  /// under_way: how many messages that are not taken yet a peer may have sent, at most kPlaces.
  /// false: this is none of those, or a duplicate.
  bool put(std::uint32_t number, const Arrived& message, std::uint32_t under_way) noexcept {
    Arrived& place = at_[number % kPlaces];
    if (number - next_ >= under_way || place.buffer != nullptr) return false;
    place = message;
    ++waiting_;
    return true;
  }
  /// Has the next in order arrived?
  bool ready() const noexcept { return at_[next_ % kPlaces].buffer != nullptr; }
  /// Requires: ready().
  Arrived take() noexcept {
    --waiting_;
    return std::exchange(at_[next_++ % kPlaces], {});
  }
  /// Has one arrived before its predecessor?
  bool has_gap() const noexcept { return waiting_ != 0 && !ready(); }
  /// How long the next has been missing, as these calls saw it; 0: it is not.
  TimeNs missing_for(TimeNs now) noexcept {
    const bool same = had_gap_ && missing_ == next_;
    had_gap_ = has_gap();
    missing_ = next_;
    if (!had_gap_ || !same) missing_since_ = now;
    return now - missing_since_;
  }
  template <class Look>
  void each(Look look) const noexcept {
    for (const Arrived& place : at_) {
      if (place.buffer != nullptr) look(place);
    }
  }
  /// Removes a message, whatever its number; buffer null: none.
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
  bool had_gap_ = false;  // these three: as of the last missing_for()
  std::uint32_t missing_ = 0;
  TimeNs missing_since_ = 0;
};

}  // namespace livebtl::ofi
