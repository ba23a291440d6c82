// SPDX-License-Identifier: BSD-3-Clause
// Each connection has its share of what sends need: a peer that stops answering blocks no other.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/fake_verbs/world.h"

using namespace livebtl;
using namespace livebtl::conformance;
using fake_verbs::World;

TEST_CASE("a peer that takes nothing leaves buffers to send from to all others") {
  World world(true);  // a send is carried out only when somebody turns
  Rig rig(world.subject());
  Link dead = rig.link(), other = rig.link();
  const std::vector<Expected> frames(200, Expected{5, 16, 1000});
  REQUIRE(transfer(rig, *dead.a, *dead.b, frames));  // now it has all the credit that it can get
  REQUIRE(transfer(rig, *other.a, *other.b, frames));
  std::size_t taken = 0;
  while (dead.a->post_pattern(1, 8, 1000) == Post::kDone) REQUIRE(++taken < 100);
  CHECK(taken >= 8);
  for (int i = 0; i < 2; ++i) CHECK(other.a->post_pattern(2, 8, 1000) == Post::kDone);
  REQUIRE(rig.until([&] {
    return dead.b->frames == frames.size() + taken && other.b->frames == frames.size() + 2;
  }));
}

TEST_CASE("a connection that is made after a peer has stopped taking anything can be sent to") {
  World world(true);
  Rig rig(world.subject());
  Link dead = rig.link();
  const std::vector<Expected> frames(200, Expected{5, 16, 1000});
  REQUIRE(transfer(rig, *dead.a, *dead.b, frames));
  world.fabric.unanswered = world.fabric.pairs();
  while (dead.a->post_pattern(1, 8, 1000) == Post::kDone) continue;
  Link later = rig.link();
  CHECK(later.a->post_pattern(2, 8, 1000) == Post::kDone);
  REQUIRE(rig.until([&] { return later.b->frames == 1; }));
}

TEST_CASE("however many peers take nothing, the next one can be sent to") {
  World world(true);
  Rig rig(world.subject());
  std::vector<Link> links;
  for (int i = 0; i < 40; ++i) links.push_back(rig.link());
  // Once each: that much of their initial credit is left.
  for (const Link& link : links) CHECK(link.a->post_pattern(1, 8, 1000) == Post::kDone);
  REQUIRE(rig.until([&] {
    return std::ranges::all_of(links, [](const Link& link) { return link.b->frames == 1; });
  }));
}
