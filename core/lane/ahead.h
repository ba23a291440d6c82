// SPDX-License-Identifier: BSD-3-Clause
// core/lane/ahead.h -- data sent right after the offer of a large message, ahead of the request for
// them: for which offers, and which data count. Pure. Threads: as the Peer that holds both halves.
//
// Data that nobody waits for are dropped, so nothing is kept for a sender that goes ahead; the
// receiver's request says whether it dropped any, in which case all are sent again. docs/WIRE.md,
// "The placed lane".
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace livebtl::core {

/// Whether to send with an offer what nobody has asked for. Where receives are posted late, that is
/// in vain, and is tried ever less often.
class Eagerness {
 public:
  /// Called for each offer with which it could be.
  bool tries() noexcept {
    if (pause_ == 0) return true;
    --pause_;
    return false;
  }
  /// Of several that were under way at a time, one in vain counts.
  void answered(bool taken) noexcept {
    if (!taken && pause_ != 0) return;
    in_vain_ = taken ? 0 : std::min(in_vain_ + 1, kInVainMost);
    pause_ = (1u << in_vain_) - 1;
  }

 private:
  static constexpr std::uint32_t kInVainMost = 7;
  std::uint32_t in_vain_ = 0;  // how often in a row
  std::uint32_t pause_ = 0;    // offers that must first go alone
};

/// The sending half.
struct SentAhead {
  static constexpr std::uint64_t kBytesMax = 256u << 10;

  std::uint64_t transfer = 0;  // has data ahead and has not ended; 0: none
  Eagerness eagerness;

  /// Called for each offer whose data could go ahead. One at a time: the receiver remembers one.
  bool choose(std::uint64_t offered) noexcept {
    if (transfer != 0 || !eagerness.tries()) return false;
    transfer = offered;
    return true;
  }
  /// The peer has asked for the data.
  void answered(bool taken) noexcept { eagerness.answered(taken); }
  void ended(std::uint64_t ended) noexcept {
    if (transfer == ended) transfer = 0;
  }
};

/// The receiving half. A sender goes ahead with the next transfer only when the last one has ended,
/// so dropped data belong to the last one offered, to the next, whose offer is late, or to one that
/// has ended. The latter may come by a path that was left long ago, and must not hide that others
/// were dropped.
struct TakenAhead {
  std::uint64_t transfer = 0;      // the sender's name of the one whose data count ...
  std::uint64_t handle = 0;        // ... and our handle
  std::uint64_t offered = 0;       // the last offered with data ahead
  bool dropped = false;            // data that are, or may be, of `offered`
  bool dropped_unoffered = false;  // other data: of the next one, or late

  /// Data came that nobody waited for.
  void drop(std::uint64_t of) noexcept { (of == offered ? dropped : dropped_unoffered) = true; }
  /// An offer with data ahead has come, in order.
  void offer(std::uint64_t name) noexcept {
    offered = name;
    dropped = std::exchange(dropped_unoffered, false);
  }
  /// Have no data of it been dropped so far? Then the rest counts as well.
  bool begin(std::uint64_t asked_for, std::uint64_t to) noexcept {
    if (asked_for != offered || dropped) return false;
    transfer = asked_for;
    handle = to;
    return true;
  }
  /// 0: unknown.
  std::uint64_t handle_of(std::uint64_t name) const noexcept {
    return name == transfer ? handle : 0;
  }
};

}  // namespace livebtl::core
