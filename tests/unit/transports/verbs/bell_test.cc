// SPDX-License-Identifier: BSD-3-Clause
// A process that CRIU has restored, over Soft-RoCE: the device takes the bell from the thread alone that opened it.
#include <doctest/doctest.h>

#include "tests/fake_verbs/world.h"

using namespace livebtl;
using namespace livebtl::conformance;
using fake_verbs::World;

TEST_CASE("a device that takes no bell from this thread is told in another way, and all arrives") {
  for (const bool lag : {false, true}) {
    World world(lag);
    for (fake_verbs::Adapter* adapter : world.adapters) adapter->bell_refused = true;
    Rig rig(world.subject());
    Link link = rig.link();
    REQUIRE(transfer(rig, *link.a, *link.b, {{1, 8, 8}, {2, 64, 30000}, {3, 8, 0}}));
    REQUIRE(transfer(rig, *link.b, *link.a, {{4, 8, 30000}}));
    CHECK(link.a->downs.empty());
    CHECK(link.b->downs.empty());
  }
}

TEST_CASE("a device that cannot be told at all ends the connection that was to be used") {
  World world;
  Rig rig(world.subject());
  Link link = rig.link();
  world.adapters[0]->bell_refused = true;
  world.adapters[0]->ring_error = EINVAL;
  CHECK(link.a->post_pattern(1, 8, 8) == Post::kRetry);
  REQUIRE(rig.until([&] { return !link.a->downs.empty(); }));
  world.adapters[0]->bell_refused = false;
  Link again = rig.link();
  REQUIRE(transfer(rig, *again.a, *again.b, {{1, 8, 8}}));
}
