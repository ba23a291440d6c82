// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/background_test.cc -- a command that its caller does not wait for.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/clock.h"
#include "node_of_children.h"

using namespace livebtl;
using namespace livebtl::test;

TEST_CASE("--no-wait goes on alone") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  CHECK(two->say("hold newtx") == "ok");
  CHECK(node.btlctl({"--no-wait", "switch", "sm", "tcp"}).code == 0);
  CHECK(node.btlctl({"remove", "tcp"}).code == 4);
  CHECK(two->say("release") == "ok");
  const TimeNs deadline = monotonic_now() + 20 * kSecond;
  const auto ended = [&node] {
    const auto members = node.btlctl({"--json", "status"}).json()["members"];
    return std::ranges::all_of(members, [](const auto& member) {
      return member["rung"] == "new" && member["busy"] == false;
    });
  };
  bool done = false;
  while (!done && monotonic_now() < deadline) done = ended();
  CHECK(done);
  CHECK(node.btlctl({"--no-wait", "remove", "pigeon"}).code == 2);
}
