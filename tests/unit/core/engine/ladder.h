// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/engine/ladder.h -- switches between the engines of a rig, rung by rung, while the
// test's own traffic goes on.
#pragma once

#include <functional>

#include "tests/unit/core/engine/rig.h"

namespace livebtl::test {

struct Ladder {
  Rig& rig;
  std::function<void()> step;  // called between turns
  core::Routing in_force{};
  std::uint64_t operation = 0;
  std::uint32_t epoch = 0;

  void order(std::size_t i, core::Rung rung, const core::Routing& after) {
    rig.engines[i]->submit({operation, epoch, rung, in_force, after});
  }
  void climb_to(core::Rung rung, const core::Routing& after) {
    for (std::size_t i = 0; i < rig.engines.size(); ++i) order(i, rung, after);
    rig.until([&] {
      step();
      return std::all_of(rig.engines.begin(), rig.engines.end(), [](auto& engine) {
        REQUIRE(engine->report().refusal == "");
        return engine->report().reached;
      });
    });
  }
  void go(const core::Routing& after) {
    using core::Rung;
    ++operation;
    ++epoch;
    for (const Rung rung : {Rung::kJoint, Rung::kNewTx, Rung::kNew}) climb_to(rung, after);
    in_force = after;
  }
};

inline core::Routing prefer(const std::string& name) {
  core::Routing routing;
  routing.tuning[name].exclusivity = 5000;
  return routing;
}

}  // namespace livebtl::test
