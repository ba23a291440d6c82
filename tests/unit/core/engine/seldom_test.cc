// SPDX-License-Identifier: BSD-3-Clause
// A program that computes, and calls in briefly between two steps.
#include "tests/unit/core/engine/rig.h"

using namespace livebtl;
using namespace livebtl::test;

TEST_CASE("who calls in seldom looks for new connections each time") {
  constexpr TimeNs kStep = 10 * kMillisecond;
  constexpr int kSteps = 200, kStepsToMeet = 16;  // some for the handshake
  for (const char* name : {"sm", "tcp"}) {
    CAPTURE(name);
    Rig rig(2, {kind("self"), kind(name)});
    const auto step = [&] {
      rig.let(kStep);
      rig.engines[0]->progress();
    };
    for (int i = 0; i < kSteps; ++i) step();
    Watched send, receive;
    REQUIRE(rig.ports[0]->receive({.slices = {}}, receive) == Accept::kAccepted);
    REQUIRE(rig.ports[1]->send({.to = rig.to(1, 0), .slices = {}}, send) == Accept::kAccepted);
    for (int i = 0; i < kStepsToMeet && receive.done_count == 0; ++i) {
      step();
      for (int turn = 0; turn < 200; ++turn) rig.engines[1]->progress();
    }
    CHECK(receive.done_count == 1);
    rig.ports.clear();
  }
}
