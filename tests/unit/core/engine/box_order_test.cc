// SPDX-License-Identifier: BSD-3-Clause
// The ordered lane stays in order, whether its messages lie in a fast box, lie in the ring beside
// it, wait, or go over another transport's path.
#include "tests/unit/core/engine/boxed.h"
#include "tests/unit/core/engine/ladder.h"

using namespace livebtl;
using namespace livebtl::test;

TEST_CASE("nothing passes what waits, by a box either") {
  Taps taps;
  Rig rig(2, {kind("self"), boxed(taps, 2)});
  Small there(rig, 0, 1);
  there.warm_up();
  for (int round = 0; round < 3; ++round) {
    taps[0].busy = true;
    there.send(40);  // the first that does not fit into a box waits, as do all after it
    taps[0].busy = false;
    there.receive_all();
  }
}

TEST_CASE("nothing passes what waits for credit") {
  Taps taps;
  Settings settings;
  settings.credit_bytes = 65536;
  Rig rig(2, {kind("self"), boxed(taps, 2)}, 1, settings);
  Small there(rig, 0, 1);
  there.warm_up();
  std::vector<std::byte> data(4096);
  Tag tag = 1000;
  const auto send = [&](std::size_t bytes) {
    const Slice slice{data.data(), bytes};
    return rig.ports[0]->inject({.to = rig.to(0, 1), .tag = tag++, .slices = {&slice, 1}});
  };
  // Nobody receives: in the end there is credit for a small message, but a large one waits.
  for (int i = 0; i < 20; ++i) {
    REQUIRE(send(4096) == Accept::kAccepted);
    REQUIRE(send(8) == Accept::kAccepted);
  }
  for (Tag expected = 1000; expected < tag; ++expected) {
    const MutableSlice into{data.data(), data.size()};
    Watched receive;
    REQUIRE(rig.ports[1]->receive({.ignore = ~Tag{0}, .slices = {&into, 1}}, receive) ==
            Accept::kAccepted);
    rig.until([&] { return receive.done_count == 1; });
    REQUIRE(receive.completion.tag == expected);
  }
}

TEST_CASE("what lies in a box and what lies in the ring arrive in the order sent") {
  Taps taps;
  // The numbers wrap around in the slots' words on the way.
  Rig rig(2, {kind("self"), boxed(taps, 2)}, (std::uint64_t{1} << 24) - 700);
  Small there(rig, 0, 1);
  there.warm_up();
  for (int round = 0; round < 30; ++round) {
    there.send(100);  // nobody polls
    there.receive_all();
  }
  CHECK(eager_by_ring(taps, 0) < there.sent() / 4);
}

TEST_CASE("messages wait in a box while the pair moves to tcp, and back") {
  Taps taps;
  Rig rig(2, {kind("self"), boxed(taps, 2), kind("tcp")});
  Small there(rig, 0, 1);
  there.warm_up();
  Ladder ladder{rig, [] {}};
  for (int round = 0; round < 5; ++round) {
    there.send(60);
    ladder.step = [&] { there.send(1); };
    ladder.go(prefer("tcp"));
    CHECK(used(rig, 0, 1) == "tcp");
    there.send(60);
    ladder.go({});
    CHECK(used(rig, 0, 1) == "ring");
    there.receive_all();
    there.warm_up();
    CHECK(by_ring(there, taps, 0, 110) == 10);
  }
}

TEST_CASE("a marker finds the box beside its path empty, however much lay there") {
  Taps taps;
  Rig rig(2, {kind("self"), boxed(taps, 2), kind("tcp")});
  Small there(rig, 0, 1);
  Ladder ladder{rig, [] {}};
  const core::Routing after = prefer("tcp");
  // In some rounds the receiver reads the ring while it is still busy with the box.
  for (int round = 0; round < 8; ++round) {
    there.warm_up();
    ++ladder.operation;
    ++ladder.epoch;
    ladder.climb_to(core::Rung::kJoint, after);
    there.send(100);
    ladder.order(0, core::Rung::kNewTx, after);
    for (int i = 0; i < 20; ++i)
      rig.engines[0]->progress();  // the marker is posted, but nobody reads
    ladder.climb_to(core::Rung::kNewTx, after);
    ladder.climb_to(core::Rung::kNew, after);
    ladder.in_force = after;
    there.receive_all();
    ladder.go({});
  }
}
