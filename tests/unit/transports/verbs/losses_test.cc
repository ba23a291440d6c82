// SPDX-License-Identifier: BSD-3-Clause
// What breaks connections and devices: each is reported clearly, ends what it must and no more, and
// leaves nothing behind; and what comes back can be used again.
#include <doctest/doctest.h>

#include "tests/fake_verbs/world.h"
#include "tests/unit/says.h"

using namespace livebtl;
using namespace livebtl::conformance;
using fake_verbs::World;
using livebtl::test::says;

namespace {

/// Moves until A's end is down, and returns why.
std::string why_down(Rig& rig, End& end) {
  REQUIRE(rig.until([&] { return !end.downs.empty(); }));
  CHECK(end.downs.size() == 1);
  CHECK(end.post_pattern(1, 8, 8) == Post::kRetry);
  return end.downs[0].text;
}

/// Expects that no connection can be made now; returns why.
std::string refused(Rig& rig) {
  const auto dialled = rig.a().transport->connect(rig.b().transport->contact());
  REQUIRE(!dialled.has_value());
  CHECK(dialled.error().code == Errc::kUnreachable);
  return dialled.error().text;
}

void works_again(Rig& rig) {
  REQUIRE(rig.until([&] {
    return rig.a().transport->connect(rig.b().transport->contact()).has_value() &&
           rig.b().transport->connect(rig.a().transport->contact()).has_value();
  }));
  Link link = rig.link();
  REQUIRE(transfer(rig, *link.a, *link.b, {{1, 8, 8}, {2, 64, 30000}}));
  REQUIRE(transfer(rig, *link.b, *link.a, {{3, 8, 30000}}));
}

}  // namespace

TEST_CASE("a send that fails takes its connection down, and no other") {
  for (const auto& [status, text] :
       {std::pair(IBV_WC_RETRY_EXC_ERR, "does not answer any more"),
        std::pair(IBV_WC_LOC_QP_OP_ERR, "taken away"), std::pair(IBV_WC_WR_FLUSH_ERR, "broken"),
        std::pair(IBV_WC_REM_OP_ERR, "refused"), std::pair(IBV_WC_LOC_PROT_ERR, "status 4")}) {
    World world;
    Rig rig(world.subject());
    Link link = rig.link(), other = rig.link();
    world.adapters[0]->failures = {status};
    REQUIRE(link.a->post_pattern(1, 8, 8) == Post::kDone);
    const std::string why = why_down(rig, *link.a);
    CHECK_MESSAGE(says(why, text), why);
    CHECK(link.a->downs[0].code == Errc::kDown);
    REQUIRE(transfer(rig, *other.a, *other.b, {{1, 8, 8}}));
    works_again(rig);
  }
}

TEST_CASE("frames that were taken before a loss come once and in order, or not at all") {
  World world(true);
  Rig rig(world.subject());
  Link link = rig.link();
  std::vector<Expected> frames;
  world.adapters[0]->failures = {IBV_WC_SUCCESS, IBV_WC_RETRY_EXC_ERR};
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    if (link.a->post_pattern(seed, 8, 500) == Post::kDone) frames.push_back({seed, 8, 500});
  }
  CHECK(frames.size() == 30);
  why_down(rig, *link.a);
  rig.settle();
  check_received(*link.b, frames, false);
}

TEST_CASE(
    "a device that fails takes all down, is given back, and is opened again when it is there") {
  World world;
  Rig rig(world.subject());
  {
    Link link = rig.link(), other = rig.link(rig.b(), rig.a());
    world.fabric.fail(*world.adapters[0]);
    CHECK(says(why_down(rig, *link.a), "fatal error"));
    CHECK(says(why_down(rig, *other.b), "fatal error"));
    CHECK(says(refused(rig), "the device is lost"));
  }
  rig.turn();
  CHECK(world.adapters[0]->contexts.empty());  // nothing holds up its removal
  CHECK(rig.a().transport->holds_device()->descriptors().size() == 1);
  CHECK(!refused(rig).empty());
  world.fabric.plug_in(*world.adapters[0]);
  works_again(rig);
}

TEST_CASE("a device that is unplugged while a driver stays is let go at once") {
  World world;
  Rig rig(world.subject());
  {
    Link link = rig.link();
    world.fabric.unplug(*world.adapters[0]);
    CHECK(says(why_down(rig, *link.a), "taken away"));
  }
  REQUIRE(rig.until([&] { return world.adapters[0]->contexts.empty(); }));
  world.fabric.plug_in(*world.adapters[0]);
  works_again(rig);
}

TEST_CASE("a transport whose device is dead ends without fail") {
  World world;
  {
    Rig rig(world.subject());
    Link link = rig.link();
    world.fabric.fail(*world.adapters[0]);
    link.a->close();
    link.b->close();
  }
  CHECK(world.fabric.alive() == 0);
}

TEST_CASE("a port that goes down takes its connections down, and serves again when it is up") {
  World world;
  Rig rig(world.subject());
  Link link = rig.link();
  world.fabric.set_port(*world.adapters[0], IBV_PORT_DOWN);
  CHECK(says(why_down(rig, *link.a), "port is down"));
  CHECK(says(refused(rig), "port 1 is down"));
  CHECK(rig.a().transport->reaches(rig.b().transport->address()));
  world.fabric.set_port(*world.adapters[0], IBV_PORT_ACTIVE);
  works_again(rig);
}

TEST_CASE("connections end with the address that they were made with, and only then") {
  World world;
  Rig rig(world.subject());
  Link link = rig.link();
  // A change to an address that neither uses.
  world.adapters[0]->gids.push_back({fake_verbs::gid("fe80::1")});
  world.fabric.set_gid(*world.adapters[0], 1, fake_verbs::gid("fe80::2"));
  rig.settle();
  CHECK(link.a->downs.empty());
  REQUIRE(transfer(rig, *link.a, *link.b, {{1, 8, 8}}));
  world.fabric.set_gid(*world.adapters[0], 0, fake_verbs::gid("::ffff:10.0.1.77"));
  CHECK(says(why_down(rig, *link.a), "address has changed"));
  const Blob before = rig.a().transport->address();
  works_again(rig);
  CHECK(rig.a().transport->address() != before);
}

TEST_CASE("a new LID ends an InfiniBand port's connections") {
  World world;
  for (auto* adapter : world.adapters) {
    adapter->link_layer = IBV_LINK_LAYER_INFINIBAND;
    adapter->lid = adapter == world.adapters[0] ? 4 : 9;
    adapter->gids[0].gid = fake_verbs::gid(adapter->lid == 4 ? "fe80::4" : "fe80::9");
  }
  Rig rig(world.subject());
  Link link = rig.link();
  world.fabric.set_lid(*world.adapters[0], 5);
  CHECK(says(why_down(rig, *link.a), "address has changed"));
  works_again(rig);
}

TEST_CASE("a queue pair that fails by itself takes its connection down") {
  World world;
  Rig rig(world.subject());
  Link link = rig.link(), other = rig.link();
  world.fabric.pair_fails(*world.adapters[0], world.fabric.pairs().front());
  CHECK(says(why_down(rig, *link.a), "queue pair has failed"));
  REQUIRE(transfer(rig, *other.a, *other.b, {{1, 8, 8}}));
}

TEST_CASE("a peer that went without a word is found out, though nothing is sent to it") {
  World world;
  Rig rig(world.subject());
  Link link = rig.link();
  // Its machine is gone: its closing message gets nowhere.
  world.adapters[1]->mute = true;
  link.b->close();
  rig.stop_b();
  world.adapters[1]->mute = false;
  const TimeNs deadline = monotonic_now() + kDeadlineNs;
  while (link.a->downs.empty() && monotonic_now() < deadline) rig.a().turn();
  REQUIRE(link.a->downs.size() == 1);
  CHECK(says(link.a->downs[0].text, "does not answer"));
}

TEST_CASE("a peer that rests for long is not taken for gone") {
  World world;
  Rig rig(world.subject());
  Link link = rig.link();
  const TimeNs end = monotonic_now() + 3 * kSecond;
  while (monotonic_now() < end) rig.a().turn();
  CHECK(link.a->downs.empty());
  REQUIRE(transfer(rig, *link.a, *link.b, {{1, 8, 8}}));
}

TEST_CASE("a flipped bit in a payload is seen, and nothing of it delivered") {
  World world;
  Rig rig(world.subject(false));
  Link link = rig.link();
  world.fabric.flip_payload_bit_of_next();
  REQUIRE(link.a->post_pattern(1, 8, 1000) == Post::kDone);
  CHECK(says(why_down(rig, *link.b), "checksum over a payload"));
  CHECK(link.b->downs[0].code == Errc::kCorrupt);
  CHECK(link.b->received.empty());
  CHECK(says(why_down(rig, *link.a), "closed the connection"));
}

TEST_CASE("connections opened and closed under traffic lose no buffer") {
  World world(true);
  Rig rig(world.subject());
  Link steady = rig.link();
  for (std::uint64_t round = 0; round < 300; ++round) {
    Link link = rig.link();
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      (void)link.a->post_pattern(seed, 8, 300);
      (void)link.b->post_pattern(seed, 8, 300);
    }
    if (round % 3 != 0) rig.turn();
    if (round % 2 == 0) link.b->close();
  }
  const std::vector<Expected> frames(200, Expected{5, 16, 30000});
  REQUIRE(transfer(rig, *steady.a, *steady.b, frames));
  REQUIRE(transfer(rig, *steady.b, *steady.a, frames));
}
