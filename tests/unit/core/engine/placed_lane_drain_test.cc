// SPDX-License-Identifier: BSD-3-Clause
// Paths that carried only data of large messages (the placed lane) and are no longer in use: they
// count as empty only once all of that data has arrived.
#include "tests/unit/core/engine/ladder.h"
#include "tests/unit/core/engine/large.h"
#include "tests/unit/core/engine/long_hold.h"
#include "tests/unit/core/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;
using core::FrameKind;
using core::HoldState;
using core::Rung;

namespace {

constexpr TimeNs kShort = 200 * kMillisecond;  // no probe is due yet

void pass(Rig& rig, TimeNs time) {
  for (TimeNs passed = 0; passed < time; passed += kMillisecond) rig.pass(kMillisecond);
}

/// Sends by beta, and large messages also by gamma.
bool is_striped(core::EngineCore& engine) {
  const auto peers = engine.status().peers;
  return !peers.empty() && peers[0].transport == "beta" && peers[0].bulk.size() == 2;
}

bool sends_by(core::EngineCore& engine, const std::string& name) {
  return engine.status().peers.at(0).transport == name;
}

template <class Condition>
void pass_until(Rig& rig, Condition condition) {
  rig.until([&] {
    rig.pass(kMillisecond);
    return condition();
  });
}

bool all_parked(Rig& rig) {
  return std::ranges::all_of(
      rig.engines, [](auto& engine) { return engine->hold_report().state == HoldState::kParked; });
}

}  // namespace

TEST_CASE("a hold waits for data on a path that has just left the set") {
  Taps alpha, beta, gamma;
  alpha[0].refuses = alpha[1].refuses = true;
  core::Routing routing;
  routing.tuning["alpha"].exclusivity = 999;
  Rig rig(2, {kind("self"), tapped("alpha", alpha), tapped("beta", beta), tapped("gamma", gamma)},
          1, {}, 1, routing);
  const Large before(rig);
  pass_until(rig, [&] { return before.arrived() && is_striped(*rig.engines[0]); });
  gamma[1].deaf = true;
  const std::uint64_t sent = gamma[0].posted[FrameKind::kData];
  const Large large(rig);
  pass_until(rig, [&] { return gamma[0].posted[FrameKind::kData] > sent; });
  alpha[0].refuses = alpha[1].refuses = false;
  pass_until(rig, [&] { return sends_by(*rig.engines[0], "alpha"); });
  for (auto& engine : rig.engines) REQUIRE(engine->hold({5, kLong, 0}).refusal == "");
  pass(rig, kShort);
  const auto report = rig.engines[0]->hold_report();
  CHECK(report.state == HoldState::kParking);
  REQUIRE(report.waiting.size() == 1);
  CHECK(report.waiting[0].find("marker") != std::string::npos);
  gamma[1].deaf = false;
  pass_until(rig, [&] { return all_parked(rig); });
  for (auto& engine : rig.engines) engine->end_hold(5);
  pass_until(rig, [&] { return large.arrived(); });
  CHECK(large.is_whole());
  CHECK(lost(rig, "gamma") == 0);
}

TEST_CASE("a transport is not drained before the data of large messages on it have arrived") {
  Taps beta, gamma;
  Rig rig(2, {kind("self"), tapped("beta", beta), tapped("gamma", gamma)});
  const Large before(rig);
  pass_until(rig, [&] { return before.arrived() && is_striped(*rig.engines[0]); });
  gamma[1].deaf = true;
  const std::uint64_t sent = gamma[0].posted[FrameKind::kData];
  const Large large(rig);
  pass_until(rig, [&] { return gamma[0].posted[FrameKind::kData] > sent; });
  core::Routing after;
  after.quiesced.insert("gamma");
  const auto order = [&](Rung rung) {
    for (auto& engine : rig.engines) engine->submit({1, 1, rung, {}, after});
  };
  order(Rung::kJoint);
  pass_until(rig, [&] { return rig.engines[0]->report().reached; });
  order(Rung::kNewTx);
  pass(rig, kShort);
  CHECK_FALSE(rig.engines[0]->report().reached);
  CHECK(rig.engines[0]->status().peers.at(0).bulk == std::vector<std::string>{"beta"});
  gamma[1].deaf = false;
  pass_until(rig, [&] { return rig.engines[0]->report().reached; });
  pass_until(rig, [&] { return large.arrived(); });
  CHECK(large.is_whole());
  CHECK(lost(rig, "gamma") == 0);
}

TEST_CASE("a path that only one end used is closed when the pair has moved away") {
  Taps beta, gamma;
  core::Routing routing;
  for (const char* name : {"beta", "gamma"}) routing.tuning[name].exclusivity = 5000;
  Rig rig(2, {kind("self"), tapped("beta", beta), tapped("gamma", gamma, "sm")}, 1, {}, 1, routing);
  const Large large(rig);
  pass_until(rig, [&] { return large.arrived() && is_striped(*rig.engines[0]); });
  const Large striped(rig);
  pass_until(rig, [&] { return striped.arrived(); });
  REQUIRE(gamma[0].posted[FrameKind::kData] != 0);
  REQUIRE(gamma[1].posted[FrameKind::kData] == 0);
  core::Routing after = routing;
  after.moved["gamma"] = "beta";
  Ladder ladder{rig, [] {}, routing};
  ladder.go(after);
  // Shared memory retains nothing that it was given: it is closed once both ends have sent a
  // marker.
  pass_until(rig, [&] { return gamma[0].sinks.empty() && gamma[1].sinks.empty(); });
}

namespace {

/// A pair that has moved to its other path and back: the former send path still carries large
/// messages.
struct MovedBack {
  MovedBack() {
    {
      const Large before(rig);
      pass_until(rig, [&] { return before.arrived() && striped(); });
    }
    rig.open_ports();
    first = rig.engines[0]->status().peers.at(0).transport;
    other = first == "beta" ? "gamma" : "beta";
    ladder.go(prefer(other));
    REQUIRE(used(rig, 0, 1) == other);
    ladder.go({});
    pass_until(rig, [&] { return used(rig, 0, 1) == first && striped(); });
  }
  bool striped() const { return rig.engines[0]->status().peers.at(0).bulk.size() == 2; }
  Taps& former() { return other == "beta" ? beta : gamma; }

  Taps beta, gamma;
  Rig rig{2, {kind("self"), tapped("beta", beta), tapped("gamma", gamma)}};
  Ladder ladder{rig, [] {}};
  std::string first, other;
};

}  // namespace

TEST_CASE(
    "a former send path that carries large messages on, and is never empty, holds up no ladder") {
  MovedBack pair;
  pair.former()[0].never_empty = true;
  core::Routing heavier;
  heavier.tuning[pair.other].weight = 3;
  pair.ladder.go(heavier);
  CHECK(pair.striped());
  pair.former()[0].never_empty = false;
}

TEST_CASE("a former send path that breaks with data of large messages on it is lost") {
  MovedBack pair;
  const std::uint64_t sent = pair.former()[0].posted[FrameKind::kData];
  const Large large(pair.rig);
  pass_until(pair.rig, [&] { return pair.former()[0].posted[FrameKind::kData] > sent; });
  const auto sinks = pair.former()[0].sinks;
  REQUIRE(sinks.size() == 1);
  (*sinks.begin())->on_down({Errc::kDown, "the test breaks it"});
  pair.rig.engines[0]->progress();
  CHECK(lost(pair.rig, pair.other) == 1);
  pass_until(pair.rig, [&] { return large.arrived(); });
  CHECK(large.is_whole());
}
