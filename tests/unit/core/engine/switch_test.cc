// SPDX-License-Identifier: BSD-3-Clause
// A switch under load between engines over real sockets, rung by rung, and what is restored when it
// is refused.
#include "tests/unit/core/engine/ladder.h"
#include "tests/unit/core/engine/traffic.h"

using namespace livebtl;
using namespace livebtl::test;
using core::Routing;
using core::Rung;
using core::RungOrder;

namespace {}  // namespace

TEST_CASE(
    "traffic moves from one transport to the other and back, again and again, and nothing is "
    "lost") {
  for (const std::uint64_t first_seq :
       {std::uint64_t{1}, (std::uint64_t{1} << 32U) - 3, (std::uint64_t{1} << 63U) - 3}) {
    Rig rig(3, two_networks(), first_seq);
    Traffic traffic(rig);
    Ladder ladder{rig, [&] { traffic.step(); }};
    ladder.go(prefer("alpha"));
    run(rig, traffic, 20);
    for (int round = 0; round < 6; ++round) {
      const bool to_beta = round % 2 == 0;
      Routing after = ladder.in_force;
      after.moved.erase(to_beta ? "beta" : "alpha");
      after.moved[to_beta ? "alpha" : "beta"] = to_beta ? "beta" : "alpha";
      ladder.go(after);
      run(rig, traffic, 20);
      for (std::size_t i = 0; i < 3; ++i)
        CHECK(used(rig, i, (i + 1) % 3) == (to_beta ? "beta" : "alpha"));
    }
  }
}

TEST_CASE(
    "a transport is removed and added again under load; its descriptors are gone in between") {
  Rig rig(2, two_networks());
  Traffic traffic(rig);
  Ladder ladder{rig, [&] { traffic.step(); }};
  ladder.go(prefer("alpha"));
  run(rig, traffic, 20);
  for (int round = 0; round < 5; ++round) {
    Routing without = ladder.in_force;
    without.excluded.insert("alpha");
    ladder.go(without);
    for (auto& engine : rig.engines) {
      CHECK(engine->report().other_holders.empty());
      CHECK(engine->report().pairs_moved == 1);
    }
    run(rig, traffic, 20);
    CHECK(used(rig, 0, 1) == "beta");
    Routing with = without;
    with.excluded.erase("alpha");
    ladder.go(with);
    run(rig, traffic, 20);
    CHECK(used(rig, 0, 1) == "alpha");
  }
}

TEST_CASE("removing the last path is refused and names the peer") {
  Rig rig(2, {kind("self"), kind("tcp", "alpha")});
  Traffic traffic(rig);
  run(rig, traffic, 20);
  Routing without;
  without.excluded.insert("alpha");
  rig.engines[0]->submit({1, 1, Rung::kJoint, {}, without});
  const auto report = rig.engines[0]->report();
  CHECK(report.refused_last_path);
  REQUIRE(report.pairs.size() == 1);
  CHECK(report.pairs[0].find("rank 1") != std::string::npos);
  run(rig, traffic, 20);
}

TEST_CASE("a switch is taken back from each rung below the commit point") {
  Rig rig(2, two_networks());
  Traffic traffic(rig);
  Ladder ladder{rig, [&] { traffic.step(); }};
  ladder.go(prefer("alpha"));
  run(rig, traffic, 20);
  Routing after = ladder.in_force;
  after.moved["alpha"] = "beta";
  for (const bool from_new_tx : {false, true}) {
    ++ladder.operation;
    ++ladder.epoch;
    ladder.climb_to(Rung::kJoint, after);
    run(rig, traffic, 10);
    if (from_new_tx) {
      ladder.climb_to(Rung::kNewTx, after);
      run(rig, traffic, 10);
      CHECK(used(rig, 0, 1) == "beta");
      ladder.climb_to(Rung::kJoint, after);
    }
    ladder.climb_to(Rung::kOld, after);
    run(rig, traffic, 20);
    CHECK(used(rig, 0, 1) == "alpha");
  }
}

TEST_CASE("a path that the peer goes back to counts as used again, if by eager messages alone") {
  Rig rig(2, two_networks());
  Traffic traffic(rig, Traffic::Sizes::kEager);
  Ladder ladder{rig, [&] { traffic.step(); }};
  ladder.go(prefer("alpha"));
  run(rig, traffic, 20);
  Routing after = ladder.in_force;
  after.moved["alpha"] = "beta";
  ++ladder.operation;
  ++ladder.epoch;
  for (const Rung rung : {Rung::kJoint, Rung::kNewTx, Rung::kJoint, Rung::kOld}) {
    ladder.climb_to(rung, after);
    run(rig, traffic, 20);
  }
  CHECK(rig.engines[0]->status().peers.at(0).receiving == "alpha");
}
