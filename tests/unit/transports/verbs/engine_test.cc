// SPDX-License-Identifier: BSD-3-Clause
// Whole engines over tcp and verbs: pairs meet over another path and then move to, switch to, lose
// and regain the one that connects by tickets.
#include "tests/unit/transports/verbs/engine_kit.h"

using namespace livebtl;
using namespace livebtl::test;

TEST_CASE("a pair meets over tcp, and moves to verbs when that is open") {
  fake_verbs::World world;
  Rig rig(2, {kind("tcp"), verbs_of(world)});
  message(rig);
  both_send_by(rig, "verbs");
  message(rig, 3u << 20);
}

TEST_CASE("verbs is added to a running job, removed without a trace, and comes back") {
  fake_verbs::World world;
  Rig rig(2, {kind("tcp"), verbs_of(world)}, 1, {}, 1, kWithout);
  message(rig);
  CHECK(sends_by(rig, 0) == "tcp");
  CHECK(world.fabric.alive() == 0);
  for (std::uint64_t round = 0; round < 10; ++round) {
    climb(rig, 2 * round + 1, kWithout, {});
    both_send_by(rig, "verbs");
    climb(rig, 2 * round + 2, {}, kWithout);
    CHECK(world.fabric.alive() == 0);
    both_send_by(rig, "tcp");
    for (auto& engine : rig.engines) CHECK(engine->report().other_holders.empty());
  }
}

TEST_CASE("a device that is not there refuses the addition, and all stay where they are") {
  fake_verbs::World world;
  Rig rig(2, {kind("tcp"), verbs_of(world)}, 1, {}, 1, kWithout);
  message(rig);
  world.fabric.unplug(*world.adapters[0]);
  core::RungOrder order;
  order.operation = order.epoch = 1;
  order.rung = core::Rung::kJoint;
  order.before = kWithout;
  rig.engines[0]->submit(order);
  CHECK(rig.engines[0]->report().refusal.find("no RDMA device") != std::string::npos);
  message(rig);
  CHECK(sends_by(rig, 0) == "tcp");
}

TEST_CASE("moved from tcp to verbs, a pair uses tcp for tickets alone") {
  fake_verbs::World world;
  core::Routing moved;
  moved.moved["tcp"] = "verbs";
  Rig rig(2, {kind("tcp"), verbs_of(world)}, 1, {}, 1, kWithout);
  message(rig);
  climb(rig, 1, kWithout, {});
  climb(rig, 2, {}, moved);
  both_send_by(rig, "verbs");
  world.adapters[0]->failures = {IBV_WC_RETRY_EXC_ERR};
  message(rig, 100000);
  CHECK(sends_by(rig, 0) == "verbs");
}

TEST_CASE("a process reaches itself by verbs, without another path") {
  fake_verbs::World world;
  Rig rig(1, {verbs_of(world)});
  Watched send, receive;
  ReceiveRequest wanted{.ignore = ~Tag{0}};
  REQUIRE(rig.ports[0]->receive(wanted, receive) == Accept::kAccepted);
  REQUIRE(rig.ports[0]->send({.to = rig.to(0, 0)}, send) == Accept::kAccepted);
  rig.until([&] { return receive.done_count != 0; });
}

TEST_CASE("messages of a pair that has verbs alone wait until another transport is there") {
  fake_verbs::World world;
  const core::Routing without = routing_without("tcp");
  Rig rig(2, {kind("tcp"), verbs_of(world)}, 1, {}, 1, without);
  Watched send, receive;
  ReceiveRequest wanted{.ignore = ~Tag{0}};
  REQUIRE(rig.ports[1]->receive(wanted, receive) == Accept::kAccepted);
  REQUIRE(rig.ports[0]->send({.to = rig.to(0, 1)}, send) == Accept::kAccepted);
  for (int i = 0; i < 1000; ++i) {
    for (auto& engine : rig.engines) engine->progress();
  }
  CHECK(receive.done_count == 0);
  for (std::size_t i : {0u, 1u}) {
    rig.engines[i]->introduce(ProcessId{101 - i}, rig.engines[1 - i]->contacts());
  }
  climb(rig, 1, without, {});
  for (std::size_t i : {0u, 1u}) {
    rig.engines[i]->introduce(ProcessId{101 - i}, rig.engines[1 - i]->contacts());
  }
  rig.until([&] { return receive.done_count != 0; });
  both_send_by(rig, "verbs");
}
