// SPDX-License-Identifier: BSD-3-Clause
// What the status reports of the two lanes of a pair, and how a pair with oneself counts.
#include "tests/unit/core/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;
using core::Rung;

namespace {

/// One byte from one process to another, or to itself.
void talk(Rig& rig, std::size_t from, std::size_t to) {
  Watched sent, received;
  std::byte in{}, out{};
  const MutableSlice into{&in, 1};
  ReceiveRequest wanted{.tag = 1};
  wanted.slices = {&into, 1};
  REQUIRE(rig.ports[to]->receive(wanted, received) == Accept::kAccepted);
  const Slice what{&out, 1};
  SendRequest request{.to = rig.to(from, to), .tag = 1};
  request.slices = {&what, 1};
  REQUIRE(rig.ports[from]->send(request, sent) == Accept::kAccepted);
  rig.until([&] { return received.done_count == 1 && sent.done_count == 1; });
}

}  // namespace

TEST_CASE("the status names what each lane of a pair travels on") {
  Rig rig(2, {kind("self"), kind("tcp", "alpha"), kind("tcp", "beta")});
  auto& engine = *rig.engines[0];
  talk(rig, 0, 1);
  CHECK(engine.status().peers.at(0).receiving.empty());  // nothing has arrived yet
  talk(rig, 1, 0);
  rig.until([&] { return engine.status().peers.at(0).bulk.size() == 2; });
  talk(rig, 1, 0);
  const core::PeerStatus peer = engine.status().peers.at(0);
  CHECK(peer.bulk == std::vector<std::string>{"alpha", "beta"});  // equal transports share it
  CHECK(peer.receiving == rig.engines[1]->status().peers.at(0).transport);
  for (const core::TransportStatus& transport : engine.status().transports) {
    if (transport.name == "self") continue;
    CHECK(transport.peers == (transport.name == peer.transport ? 1 : 0));
    CHECK(transport.bulk_peers == 1);
    CHECK_FALSE(transport.own_pair);
  }
}

TEST_CASE("a process has both ends of its pair with itself, and says so when it moves") {
  Rig rig(1, {kind("self"), kind("tcp")});
  talk(rig, 0, 0);
  auto& engine = *rig.engines[0];
  CHECK(engine.status().transports.at(0).peers == 1);
  CHECK(engine.status().transports.at(0).own_pair);
  core::Routing after;
  after.excluded.insert("self");
  for (const Rung rung : {Rung::kJoint, Rung::kNewTx, Rung::kNew}) {
    engine.submit({1, 1, rung, {}, after});
    rig.until([&] { return engine.report().reached; });
  }
  CHECK(engine.report().pairs_moved == 2);
}

TEST_CASE("what a path has carried counts on while it is broken and not yet cleared away") {
  Taps taps;
  Rig rig(2, {kind("self"), tapped("alpha", taps)});
  talk(rig, 0, 1);
  auto& engine = *rig.engines[0];
  auto latch = std::make_unique<core::EnginePageLatch>();
  const auto by_page = [&] {
    engine.show_on(latch.get());
    const core::EnginePage& page = latch->copies[latch->sequence.load() % 2];
    return std::pair(page.peer[0].bytes_sent, page.transport[1].carried.bytes_sent);
  };
  const std::uint64_t sent = engine.status().peers.at(0).frames_sent.at("alpha");
  const std::uint64_t bytes = engine.status().transports.at(1).carried.bytes_sent;
  CHECK(by_page() == std::pair(bytes, bytes));
  const auto sinks = taps[0].sinks;
  REQUIRE(sinks.size() == 1);
  (*sinks.begin())->on_down({Errc::kDown, "the test breaks it"});
  const core::EngineStatus broken = engine.status();
  CHECK(broken.peers.at(0).frames_sent.at("alpha") == sent);
  CHECK(broken.transports.at(1).carried.frames_sent == sent);
  CHECK(by_page() == std::pair(bytes, bytes));
  engine.show_on(nullptr);
  rig.until([&] { return lost(rig, "alpha") > 0; });
  CHECK(engine.status().peers.at(0).frames_sent.at("alpha") >= sent);
}
