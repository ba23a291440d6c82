// SPDX-License-Identifier: BSD-3-Clause
// A transport is told of every peer that may dial it, however its address became known, and again
// when the transport is reopened.
#include "tests/unit/core/engine/ladder.h"
#include "tests/unit/core/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

bool holds(const std::vector<Blob>& addresses, const Blob& wanted) {
  return std::ranges::find(addresses, wanted) != addresses.end();
}

Blob told_by(Rig& rig, std::size_t i) { return rig.engines[i]->contacts().at("tcp"); }

/// One message, so that the pair meets.
void meet(Rig& rig, std::size_t from, std::size_t to) {
  Watched send, receive;
  REQUIRE(rig.ports[to]->receive({.ignore = ~Tag{0}}, receive) == Accept::kAccepted);
  REQUIRE(rig.ports[from]->send({.to = rig.to(from, to)}, send) == Accept::kAccepted);
  rig.until([&] { return send.done_count + receive.done_count == 2; });
}

}  // namespace

TEST_CASE("whoever the application names is expected before anything is sent") {
  Taps taps;
  Rig rig(2, {kind("self"), tapped("tcp", taps)});
  CHECK(taps[0].expected.empty());
  rig.to(0, 1);
  CHECK(taps[0].expected.size() == 1);
  CHECK(taps[1].expected.empty());
}

TEST_CASE("whoever says hello is expected, too: another path of the pair may be dialled") {
  Taps taps;
  Rig rig(2, {kind("self"), tapped("tcp", taps)});
  meet(rig, 0, 1);
  CHECK(holds(taps[1].expected, told_by(rig, 0)));
}

TEST_CASE("a transport that is opened again is told who may dial, also if they have never met") {
  Taps taps;
  Rig rig(2, {kind("self"), kind("sm"), tapped("tcp", taps)});
  rig.to(0, 1);
  core::Routing without;
  without.excluded = {"tcp"};
  Ladder ladder{rig, [] {}};
  ladder.go(without);
  taps[0].expected.clear();
  ladder.go({});
  CHECK(taps[0].expected.size() == 1);
}

TEST_CASE("a transport that listens elsewhere for those it expects has that announced") {
  Taps taps;
  Rig rig(3, {kind("self"), tapped("tcp", taps)});
  meet(rig, 0, 1);
  taps[0].moves = true;
  const std::uint64_t before = taps[0].posted[core::FrameKind::kAddresses];
  rig.to(0, 2);
  rig.until([&] { return taps[0].posted[core::FrameKind::kAddresses] > before; });
}

TEST_CASE("an engine passes on what the launcher says of the job's nodes") {
  for (const bool one_node : {false, true}) {
    bool said = !one_node;
    core::EngineConfig config;
    config.job = "test";
    config.process = ProcessId{1};
    config.one_node = one_node;
    config.kinds = {kind("self")};
    config.kinds[0].make = [&, make = config.kinds[0].make](const core::NodeFacts& facts) {
      said = facts.one_node;
      return make(facts);
    };
    core::EngineCore engine(config);
    REQUIRE(engine.open_transports());
    CHECK(said == one_node);
  }
}
