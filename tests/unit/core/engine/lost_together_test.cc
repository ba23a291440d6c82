// SPDX-License-Identifier: BSD-3-Clause
// Pairs that lose several paths at once: the peer is told of each, over whatever path exists or
// opens next.
#include "tests/unit/core/engine/large.h"
#include "tests/unit/core/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;
using core::FrameKind;

namespace {

/// Three paths, of which rank 0 loses the first two; their transports can make no new ones.
struct Three {
  Three() {
    const Large large(rig);
    rig.until(
        [&] { return large.arrived() && rig.engines[0]->status().peers.at(0).bulk.size() == 3; });
  }
  static void lose(Taps& taps) {
    for (auto& [rank, tap] : taps) tap.refuses = true;
    const auto sinks = taps[0].sinks;
    REQUIRE(sinks.size() == 1);
    (*sinks.begin())->on_down({Errc::kDown, "the test breaks it"});
  }
  std::uint64_t told() { return gamma[0].posted[FrameKind::kPathDown]; }

  Taps alpha, beta, gamma;
  Rig rig{2, {kind("self"), tapped("alpha", alpha), tapped("beta", beta), tapped("gamma", gamma)}};
};

}  // namespace

TEST_CASE("two paths that are lost together are both told of") {
  Three paths;
  Three::lose(paths.alpha);
  Three::lose(paths.beta);
  paths.rig.engines[0]->progress();
  paths.rig.until([&] { return paths.told() >= 2; });
  paths.rig.ports.clear();
}

TEST_CASE("a path that cannot be told of, as all are lost, is told of on the next that opens") {
  Three paths;
  Three::lose(paths.alpha);
  Three::lose(paths.beta);
  Three::lose(paths.gamma);
  paths.rig.engines[0]->progress();
  REQUIRE(paths.told() == 0);
  for (auto& [rank, tap] : paths.gamma) tap.refuses = false;
  paths.rig.until([&] { return paths.told() >= 2; });
  paths.rig.ports.clear();
}
