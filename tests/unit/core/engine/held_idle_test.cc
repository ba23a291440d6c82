// SPDX-License-Identifier: BSD-3-Clause
// Pairs that have nothing to send reconnect after a hold, so that each learns of the other's end.
#include "tests/unit/core/engine/long_hold.h"
#include "tests/unit/core/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

/// Two that have met, have nothing to send, and are held.
struct HeldIdle {
  HeldIdle() {
    Watched send, receive;
    REQUIRE(rig.ports[1]->receive({}, receive) == Accept::kAccepted);
    REQUIRE(rig.ports[0]->send({.to = rig.to(0, 1)}, send) == Accept::kAccepted);
    rig.until([&] { return send.done_count + receive.done_count == 2; });
    for (auto& engine : rig.engines) REQUIRE(engine->hold({1, kLong, 0}).refusal == "");
    rig.until([&] {
      return std::ranges::all_of(rig.engines, [](auto& engine) {
        return engine->hold_report().state == core::HoldState::kParked;
      });
    });
  }
  /// Else neither would learn that the other has ended.
  void come_together_after() {
    rig.until([&] { return taps[0].sinks.empty() && taps[1].sinks.empty(); });
    for (auto& engine : rig.engines) engine->end_hold(1);
    rig.until([&] { return used(rig, 0, 1) == "tcp" && used(rig, 1, 0) == "tcp"; });
  }
  Taps taps;
  Rig rig{2, {kind("self"), tapped("tcp", taps)}};
};

}  // namespace

TEST_CASE(
    "a path that is lost while both ends are held comes again, though nothing is to be sent") {
  HeldIdle pair;
  for (core::EndpointSink* sink : std::set(pair.taps[0].sinks))
    sink->on_down({Errc::kDown, "the test breaks it"});
  pair.come_together_after();
}

TEST_CASE("restored processes that had a path have one again, though nothing is to be sent") {
  HeldIdle pair;
  for (auto& engine : pair.rig.engines)
    REQUIRE(engine->restore({1, 0}, Incarnation{2}).refusal == "");
  pair.come_together_after();
}

TEST_CASE("addresses that change in a hold are told when it is over") {
  HeldIdle pair;
  pair.rig.engines[0]->publish_relay("tcp://10.0.0.9:1");
  for (auto& engine : pair.rig.engines) engine->end_hold(1);
  const std::vector<std::string> relay{"tcp://10.0.0.9:1"};
  pair.rig.until([&] { return pair.rig.engines[1]->relays() == relay; });
  CHECK(pair.rig.engines[1]->relays() == relay);
}
