// SPDX-License-Identifier: BSD-3-Clause
// Pairs whose only remaining path is over a quiesced transport: their send path was lost.
#include "tests/unit/core/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;
using core::Routing;
using core::Rung;

namespace {

/// Exchanges a word each way.
void exchange(Rig& rig) {
  const std::uint32_t word = 7;
  std::uint32_t got[2] = {};
  Watched sends[2], receives[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const Slice from{&word, sizeof word};
    const MutableSlice into{&got[i], sizeof got[i]};
    REQUIRE(rig.ports[i]->receive({.slices = {&into, 1}}, receives[i]) == Accept::kAccepted);
    REQUIRE(rig.ports[1 - i]->send({.to = rig.to(1 - i, i), .slices = {&from, 1}}, sends[1 - i]) ==
            Accept::kAccepted);
  }
  rig.until([&] {
    return std::ranges::all_of(receives, [](auto& each) { return each.done_count == 1; }) &&
           std::ranges::all_of(sends, [](auto& each) { return each.done_count == 1; }) &&
           std::ranges::all_of(rig.engines, [](auto& engine) {
             return engine->status().peers.at(0).kept_bytes == 0;
           });
  });
}

void climb(Rig& rig, std::uint64_t operation, const Routing& before, const Routing& after) {
  for (const Rung rung : {Rung::kJoint, Rung::kNewTx, Rung::kNew}) {
    for (auto& engine : rig.engines)
      engine->submit({operation, static_cast<std::uint32_t>(operation), rung, before, after});
    rig.until([&] {
      return std::ranges::all_of(rig.engines,
                                 [](auto& engine) { return engine->report().reached; });
    });
  }
}

/// As if a cable were pulled while the job is held.
void lose_in_a_hold(Rig& rig, Taps& taps) {
  for (auto& engine : rig.engines) REQUIRE(engine->hold({1, 100 * kSecond, 0}).refusal == "");
  rig.until([&] {
    return std::ranges::all_of(rig.engines, [](auto& engine) {
      return engine->hold_report().state == core::HoldState::kParked;
    });
  });
  for (auto& [rank, tap] : taps) {
    const auto sinks = tap.sinks;
    for (core::EndpointSink* sink : sinks) sink->on_down({Errc::kDown, "the test breaks it"});
  }
  rig.until([&] { return taps[0].sinks.empty() && taps[1].sinks.empty(); });
  for (auto& engine : rig.engines) engine->end_hold(1);
}

}  // namespace

TEST_CASE("a pair that sends on nothing, and has nothing to send, holds up no ladder") {
  Taps alpha, beta;
  Rig rig(2, {kind("self"), tapped("alpha", alpha), tapped("beta", beta)});
  exchange(rig);
  rig.until([&] { return !beta[0].sinks.empty() && !beta[1].sinks.empty(); });
  Routing quiesced;
  quiesced.quiesced = {"beta"};
  climb(rig, 1, {}, quiesced);
  exchange(rig);
  REQUIRE(used(rig, 0, 1) == "alpha");
  lose_in_a_hold(rig, alpha);
  REQUIRE(used(rig, 0, 1) == "");
  REQUIRE(!beta[0].sinks.empty());  // they are connected by what takes no traffic
  Routing after = quiesced;
  after.tuning["alpha"].exclusivity = 5000;
  climb(rig, 2, quiesced, after);
  exchange(rig);
  CHECK(used(rig, 0, 1) == "alpha");
}

TEST_CASE(
    "a process with something to send and no path for it finds out that a quiesced path is dead") {
  Taps alpha, beta;
  Settings settings;
  settings.probe_ms = 50;
  Rig rig(2, {kind("self"), tapped("alpha", alpha), tapped("beta", beta)}, 1, settings);
  exchange(rig);
  rig.until([&] { return !beta[0].sinks.empty() && !beta[1].sinks.empty(); });
  Routing quiesced;
  quiesced.quiesced = {"beta"};
  climb(rig, 1, {}, quiesced);
  for (auto& [rank, tap] : alpha) tap.refuses = true;
  for (auto& [rank, tap] : beta) tap.mute = true;  // as if the other machine had lost its power
  lose_in_a_hold(rig, alpha);
  const std::uint32_t word = 7;
  const Slice from{&word, sizeof word};
  Watched send;
  REQUIRE(rig.ports[0]->send({.to = rig.to(0, 1), .slices = {&from, 1}}, send) ==
          Accept::kAccepted);
  for (int passed_ms = 0; passed_ms < 1000 && !beta[0].sinks.empty(); ++passed_ms)
    rig.pass(kMillisecond);
  CHECK(beta[0].sinks.empty());
  rig.ports.clear();  // ends what is open
}
