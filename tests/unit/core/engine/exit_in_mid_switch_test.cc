// SPDX-License-Identifier: BSD-3-Clause
// Processes that end in good order in the middle of a switch.
#include "tests/unit/core/engine/ladder.h"
#include "tests/unit/core/engine/regions.h"
#include "tests/unit/core/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

/// Rank 0 of a pair that has moved from alpha to beta, where the old path is not closed yet.
struct Moved {
  static Settings at_once() {
    Settings settings;
    settings.linger_ms = 0;  // rank 1 gets no turns meanwhile
    return settings;
  }
  Moved() {
    after.moved["alpha"] = "beta";
    const Guarded memory(rig, 8);
    std::vector<std::byte> little(8);
    REQUIRE(Origin(rig).put({memory.key, 0}, little) == Errc::kOk);
    ladder.go(prefer("alpha"));
    REQUIRE(Origin(rig).put({memory.key, 0}, little) == Errc::kOk);
    REQUIRE(used(rig, 0, 1) == "alpha");
    after.tuning = ladder.in_force.tuning;
    ++ladder.operation;
    ++ladder.epoch;
    ladder.climb_to(core::Rung::kJoint, after);
    ladder.climb_to(core::Rung::kNewTx, after);
    REQUIRE(Origin(rig).put({memory.key, 0}, little) == Errc::kOk);
    REQUIRE(used(rig, 0, 1) == "beta");
  }
  bool paths_are_gone() { return alpha[0].sinks.empty() && beta[0].sinks.empty(); }

  Taps alpha, beta;
  Rig rig{2, {kind("self"), tapped("alpha", alpha), tapped("beta", beta)}, 1, at_once()};
  Ladder ladder{rig, [] {}};
  core::Routing after;
};

}  // namespace

TEST_CASE("a process that has said goodbye counts no lost path when its peer gives the pair up") {
  Moved pair;
  pair.rig.engines[0]->linger();
  pair.rig.until([&] { return pair.rig.engines[1]->status().peers.empty(); });  // it has heard it
  REQUIRE(!pair.paths_are_gone());
  pair.ladder.order(1, core::Rung::kNew, pair.after);
  pair.rig.until([&] { return pair.paths_are_gone(); });
  CHECK(lost(pair.rig, "alpha") + lost(pair.rig, "beta") == 0);
  CHECK(pair.alpha[0].dials + pair.alpha[1].dials <= 2);  // from when they met; nobody dials again
}

TEST_CASE("... but one that has not said goodbye does") {
  Moved pair;
  for (core::EndpointSink* const sink : std::set(pair.beta[0].sinks))
    sink->on_down({Errc::kDown, "the test breaks it"});
  pair.rig.until([&] { return lost(pair.rig, "beta") > 0; });
}
