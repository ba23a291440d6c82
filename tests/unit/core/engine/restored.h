// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/engine/restored.h -- engines that are held, raised and released, like a job that
// was restored from snapshots.
#pragma once

#include <algorithm>

#include "tests/unit/core/engine/long_hold.h"
#include "tests/unit/core/engine/traffic.h"

namespace livebtl::test {

using core::HoldState;

inline constexpr Incarnation kNext{7};

inline void hold_all(Rig& rig, Traffic& traffic) {
  for (auto& engine : rig.engines) REQUIRE(engine->hold({kHold, kLong, 0}).refusal == "");
  rig.until([&] {
    traffic.step();
    return std::ranges::all_of(rig.engines, [](auto& engine) {
      return engine->hold_report().state == HoldState::kParked;
    });
  });
}

inline void restore(core::EngineCore& engine) {
  const auto report = engine.restore({kHold, 0}, kNext);
  REQUIRE(report.refusal == "");
  CHECK(report.incarnation == kNext);
  CHECK(report.restored_from == kHold);
}

/// Holds, raises and releases two processes that have talked.
inline void restore_all(Rig& rig) {
  Traffic traffic(rig);
  run(rig, traffic, 5);
  hold_all(rig, traffic);
  for (auto& engine : rig.engines) restore(*engine);
  for (auto& engine : rig.engines) engine->end_hold(kHold);
  run(rig, traffic, 5);
}

/// One message, until it has arrived.
inline void say(Rig& rig, std::size_t from, std::size_t to) {
  const std::uint32_t word = 7;
  const Slice slice{&word, sizeof word};
  std::uint32_t taken = 0;
  const MutableSlice into{&taken, sizeof taken};
  Watched send, receive;
  REQUIRE(rig.ports[to]->receive({.slices = {&into, 1}}, receive) == Accept::kAccepted);
  REQUIRE(rig.ports[from]->send({.to = rig.to(from, to), .slices = {&slice, 1}}, send) ==
          Accept::kAccepted);
  rig.until([&] { return receive.done_count == 1 && send.done_count == 1; });
  CHECK(taken == word);
}

inline std::size_t lost_peers(core::EngineCore& engine) {
  const auto peers = engine.status().peers;
  return static_cast<std::size_t>(
      std::ranges::count_if(peers, [](const auto& peer) { return peer.lost; }));
}

}  // namespace livebtl::test
