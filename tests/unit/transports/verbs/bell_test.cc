// SPDX-License-Identifier: BSD-3-Clause
// A process restored by CRIU, over Soft-RoCE: the device accepts the bell only from the thread that
// opened it.
#include <doctest/doctest.h>

#include "tests/fake_verbs/world.h"
#include "tests/unit/says.h"

using namespace livebtl;
using namespace livebtl::conformance;
using fake_verbs::World;
using livebtl::test::says;

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
  for (const int error : {EINVAL, ENOMEM}) {  // one is another driver's, one seems temporary
    World world;
    Rig rig(world.subject());
    Link link = rig.link();
    world.adapters[0]->bell_refused = true;
    world.adapters[0]->ring_error = error;
    CHECK(link.a->post_pattern(1, 8, 8) == Post::kDone);  // the device has it and may send it
    CHECK(link.a->post_pattern(2, 8, 8) == Post::kRetry);
    REQUIRE(rig.until([&] { return !link.a->downs.empty(); }));
    CHECK(says(link.a->downs[0].text, "Permission denied"));
    world.adapters[0]->bell_refused = false;
    Link again = rig.link();
    REQUIRE(transfer(rig, *again.a, *again.b, {{1, 8, 8}}));
    CHECK(link.b->received.empty());
  }
}
