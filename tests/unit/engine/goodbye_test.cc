// SPDX-License-Identifier: BSD-3-Clause
// Processes that end in good order, and what the others make of it.
#include "tests/unit/engine/ladder.h"
#include "tests/unit/engine/regions.h"
#include "tests/unit/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;

TEST_CASE("who says goodbye on one path is not lost by another that closes without a word") {
  Taps alpha, beta;
  Rig rig(2, {kind("self"), tapped("alpha", alpha), tapped("beta", beta)});
  std::vector<std::byte> little(8);
  {
    const Guarded memory(rig, 8);
    Ladder ladder{rig, [] {}};
    REQUIRE(Origin(rig).get({memory.key, 0}, little) == Errc::kOk);
    ladder.go(prefer("beta"));
    REQUIRE(Origin(rig).put({memory.key, 0}, little) == Errc::kOk);
    rig.until([&] { return alpha[0].sinks.size() == 1 && used(rig, 0, 1) == "beta"; });
  }
  core::EngineCore& first = *rig.engines[0];
  beta[1].busy = true;  // no room for its goodbye there
  // Just after the first had read what came by alpha, and before it reads beta.
  alpha[0].when_read = [&] {
    rig.engines[1]->linger(0);
    rig.ports[1].reset();
    rig.engines[1].reset();
  };
  const TimeNs deadline = monotonic_now() + 20 * kSecond;
  while (!alpha[0].sinks.empty() || !beta[0].sinks.empty()) {
    REQUIRE(monotonic_now() < deadline);
    first.progress();
  }
  CHECK(first.status().peers.empty());
  for (const auto& transport : first.status().transports) CHECK(transport.paths_lost == 0);
}
