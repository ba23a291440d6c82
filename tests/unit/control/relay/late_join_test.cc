// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/relay/late_join_test.cc -- a process that was spawned on a node of its own
// joins the job through the relays (ADR 0044).
#include "control/agent/late_join.h"
#include "tests/unit/control/agent/two_nodes.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;
using core::Rung;

TEST_CASE(
    "a process spawned on a node of its own takes over where the job stands once it has met it") {
  Scratch keys;
  write_file(keys / "one", kKey);
  JobOfFakes parents(2, "alpha", 0, keys / "one");
  parents.add_members(2);
  parents.admin(0).meet_other_node();
  REQUIRE(eventually([&] { return valid_relay(relay_of(parents)); }));
  REQUIRE(parents.run("switch", {"sm", "tcp"}).code == ExitCode::kDone);
  JobOfFakes spawned(2, "beta", 2, keys / "one");
  spawned.add_spawned_member();
  CHECK(spawned.admin(0).orders().empty());
  spawned.admin(0).learn_relay(relay_of(parents));
  REQUIRE(eventually([&] { return !spawned.admin(0).orders().empty(); }));
  const core::RungOrder taken = spawned.admin(0).last();
  CHECK(taken.rung == Rung::kNew);
  CHECK(taken.operation == parents.admin(0).last().operation);
  CHECK(taken.after.moved.contains("sm"));
  for (std::size_t i = 0; i < 2; ++i) parents.admin(i).learn_relay(relay_of(spawned));
  const auto back = parents.run("switch", {"tcp", "sm"});
  CHECK(back.code == ExitCode::kDone);
  CHECK(back.members == 3);
  CHECK(spawned.admin(0).last().operation == parents.admin(0).last().operation);
}

TEST_CASE("a command waits for a spawned process that is still joining") {
  Scratch keys;
  write_file(keys / "one", kKey);
  JobOfFakes parents(1, "alpha", 0, keys / "one");
  parents.add_member();
  parents.admin(0).meet_other_node();
  REQUIRE(eventually([&] { return valid_relay(relay_of(parents)); }));
  REQUIRE(parents.run("switch", {"sm", "tcp"}).code == ExitCode::kDone);
  JobOfFakes spawned(1, "beta", 1, keys / "one");
  spawned.add_spawned_member();
  parents.admin(0).learn_relay(relay_of(spawned));
  Outcome back;
  std::thread command([&] { back = parents.run("switch", {"tcp", "sm"}); });
  spawned.admin(0).learn_relay(relay_of(parents));
  command.join();
  CHECK(back.code == ExitCode::kDone);
  CHECK(back.members == 2);
  CHECK(spawned.admin(0).last().operation == parents.admin(0).last().operation);
}
