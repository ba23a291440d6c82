// SPDX-License-Identifier: BSD-3-Clause
// Pairs that a routing moves while one end is held: for a while the two ends may disagree on what
// is in use between them.
#include "tests/unit/core/engine/long_hold.h"
#include "tests/unit/core/engine/tapped.h"
#include "tests/unit/core/engine/traffic.h"

using namespace livebtl;
using namespace livebtl::test;
using core::FrameKind;
using core::HoldState;
using core::Rung;

namespace {

core::Routing leaving(const std::string& from, const std::string& to) {
  core::Routing routing;
  routing.moved[from] = to;
  return routing;
}

/// An operation that a held process refuses, and that is taken back: its standing is then in force.
void leave_at(core::EngineCore& engine, std::uint64_t operation, const core::Routing& standing) {
  engine.submit({operation, 2, Rung::kJoint, standing, standing});
  REQUIRE(engine.report().refusal.find("held") != std::string::npos);
  engine.submit({operation, 2, Rung::kOld, standing, standing});
}

void park_one(Rig& rig, Traffic& traffic, std::size_t i) {
  REQUIRE(rig.engines[i]->hold({kHold, kLong}).refusal == "");
  rig.until([&] {
    traffic.step();
    return rig.engines[i]->hold_report().state == HoldState::kParked;
  });
}

/// Moves one end alone: the other is held, and refuses.
void move_by(Rig& rig, Traffic& traffic, std::size_t i, const core::Routing& after) {
  for (const Rung rung : {Rung::kJoint, Rung::kNewTx}) {
    rig.engines[i]->submit({1, 1, rung, {}, after});
    rig.until([&] {
      traffic.step();
      return rig.engines[i]->report().reached;
    });
  }
}

bool sends_by(core::EngineCore& engine, const std::string& name) {
  const auto peers = engine.status().peers;
  return std::ranges::any_of(peers, [&](const auto& peer) { return peer.transport == name; });
}

bool nobody_is_lost(Rig& rig) {
  return std::ranges::all_of(rig.engines, [](auto& engine) {
    return std::ranges::none_of(engine->status().peers, [](const auto& peer) { return peer.lost; });
  });
}

}  // namespace

TEST_CASE("shared memory that the peer still sends by is not closed under it") {
  Rig rig(2, {kind("self"), kind("sm"), kind("tcp")});
  Traffic traffic(rig);
  run(rig, traffic, 5);
  park_one(rig, traffic, 0);
  REQUIRE(sends_by(*rig.engines[1], "sm"));
  leave_at(*rig.engines[0], 2, leaving("sm", "tcp"));
  for (int i = 0; i < 200; ++i) {
    traffic.step();
    for (auto& engine : rig.engines) engine->progress();
  }
  CHECK(nobody_is_lost(rig));
  rig.engines[0]->end_hold(kHold);
  run(rig, traffic, 20);
  CHECK(nobody_is_lost(rig));
}

TEST_CASE(
    "a path that was left towards a held process is left by it too, when it is held no more") {
  Taps alpha, beta;
  Rig rig(2, {kind("self"), tapped("alpha", alpha), tapped("beta", beta)}, 1, {}, 1, [] {
    core::Routing first;
    first.tuning["alpha"].exclusivity = 999;
    return first;
  }());
  Traffic traffic(rig);
  park_one(rig, traffic, 0);
  rig.until([&] {
    traffic.step();
    return sends_by(*rig.engines[1], "alpha");
  });
  const core::Routing after = leaving("alpha", "beta");
  move_by(rig, traffic, 1, after);
  leave_at(*rig.engines[0], 2, after);
  CHECK(alpha[0].posted[FrameKind::kMarker] == 0);
  rig.engines[0]->end_hold(kHold);
  rig.until([&] {
    traffic.step();
    return alpha[0].posted[FrameKind::kMarker] == 1;
  });
  run(rig, traffic, 5);
  CHECK(sends_by(*rig.engines[0], "beta"));
}
