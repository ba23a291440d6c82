// SPDX-License-Identifier: BSD-3-Clause
// core/lane/ahead.h -- data that follow the offer of a large message at once, ahead of the request for them: of
// which offers, and which of the data count. Pure. Threads: as the Peer that both are part of.
//
// Data that nobody waits for are dropped, so nothing is kept for a sender that goes ahead; the receiver says in
// its request whether it has dropped any, and then all are sent again. docs/WIRE.md, "The placed lane".
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace livebtl::core {

/// The sending half.
struct SentAhead {
  static constexpr std::uint64_t kBytesMax = 256u << 10;

  std::uint64_t transfer = 0;  // whose data went ahead, and which has not ended; 0: none
  std::uint32_t in_vain = 0;   // so many in a row
  std::uint32_t pause = 0;     // so many offers go without data first

  /// Asked for each offer whose data could. Of one transfer at a time: the receiver remembers one.
  bool choose(std::uint64_t offered) noexcept {
    if (transfer != 0) return false;
    if (pause != 0) {
      --pause;
      return false;
    }
    transfer = offered;
    return true;
  }
  /// The peer has asked for the data. Where receives are posted late they come twice, but ever more seldom.
  void answered(bool taken) noexcept {
    in_vain = taken ? 0 : std::min(in_vain + 1, kInVainMost);
    pause = (1u << in_vain) - 1;
  }
  void ended(std::uint64_t ended) noexcept {
    if (transfer == ended) transfer = 0;
  }

 private:
  static constexpr std::uint32_t kInVainMost = 7;
};

/// The receiving half. A sender goes on to the next transfer when it has heard of the last one's end, or was asked for
/// it: so whatever is dropped is of the last one offered, of the next, whose offer is late, or of one that has ended.
/// Data of the latter may come by a path that was left long ago, and must not hide that others were dropped.
struct TakenAhead {
  std::uint64_t transfer = 0;      // the sender's name; its data are taken without ...
  std::uint64_t handle = 0;        // ... this one
  std::uint64_t offered = 0;       // the last one offered so
  bool dropped = false;            // data of it, or what may have been
  bool dropped_unoffered = false;  // of another: the next one's, or late

  /// Data came that nobody waited for.
  void drop(std::uint64_t of) noexcept { (of == offered ? dropped : dropped_unoffered) = true; }
  /// An offer with data ahead has come, in order.
  void offer(std::uint64_t name) noexcept {
    offered = name;
    dropped = std::exchange(dropped_unoffered, false);
  }
  /// Is all of it here that has come by now? Then the rest counts, too.
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
