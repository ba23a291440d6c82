// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/verbs/engine_kit.h -- whole engines over tcp and verbs with devices in
// memory: their kinds, messages and ladders.
#pragma once

#include "tests/fake_verbs/world.h"
#include "tests/unit/core/engine/rig.h"

namespace livebtl::test {

inline core::TransportKind verbs_of(fake_verbs::World& world) {
  return {"verbs", "openib", [&world](const core::NodeFacts& facts) {
            return world.make(static_cast<std::uint64_t>(facts.process) - 99, facts.node);
          }};
}

inline std::string sends_by(const Rig& rig, std::size_t engine) {
  return rig.engines[engine]->status().peers.front().transport;
}

/// One message from 0 to 1 arrives.
inline void message(Rig& rig, std::size_t bytes = 1000) {
  const auto data = pattern(bytes, 7);
  std::vector<std::byte> taken(bytes);
  const Slice from{data.data(), bytes};
  const MutableSlice into{taken.data(), bytes};
  Watched send, receive;
  ReceiveRequest wanted{.ignore = ~Tag{0}};
  wanted.slices = {&into, 1};
  REQUIRE(rig.ports[1]->receive(wanted, receive) == Accept::kAccepted);
  SendRequest request{.to = rig.to(0, 1)};
  request.slices = {&from, 1};
  REQUIRE(rig.ports[0]->send(request, send) == Accept::kAccepted);
  rig.until([&] { return receive.done_count != 0 && send.done_count != 0; });
  CHECK(taken == data);
}

inline void both_send_by(Rig& rig, const std::string& transport) {
  rig.until([&] { return sends_by(rig, 0) == transport; });
  message(rig);
  CHECK(sends_by(rig, 0) == transport);
}

/// Orders one rung of a ladder from all engines. more: what else the order says.
inline void order(Rig& rig, std::uint64_t operation, core::Rung rung, const core::Routing& before,
                  const core::Routing& after, core::RungOrder more = {}) {
  for (auto& engine : rig.engines) {
    more.operation = operation;
    more.epoch = static_cast<std::uint32_t>(operation);
    more.rung = rung;
    more.before = before;
    more.after = after;
    engine->submit(more);
  }
}

inline bool reached(Rig& rig) {
  return std::all_of(rig.engines.begin(), rig.engines.end(),
                     [](auto& engine) { return engine->report().reached; });
}

/// Climbs a ladder from one routing to another, all rungs, on all engines.
inline void climb(Rig& rig, std::uint64_t operation, const core::Routing& before,
                  const core::Routing& after, const core::RungOrder& more = {}) {
  for (const core::Rung rung : {core::Rung::kJoint, core::Rung::kNewTx, core::Rung::kNew}) {
    order(rig, operation, rung, before, after, more);
    rig.until([&] { return reached(rig); });
  }
}

inline core::Routing routing_without(const std::string& transport) {
  core::Routing routing;
  routing.excluded.insert(transport);
  return routing;
}
inline const core::Routing kWithout = routing_without("verbs");

}  // namespace livebtl::test
