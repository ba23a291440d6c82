// SPDX-License-Identifier: BSD-3-Clause
// Exposed payloads over a fabric in memory: what the device does by itself, and that it leaves
// memory alone once its owner has it back.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/fake_verbs/world.h"
#include "tests/unit/says.h"

using namespace livebtl;
using namespace livebtl::conformance;
using fake_verbs::World;
using livebtl::test::says;

namespace {

constexpr std::size_t kBytes = messages::kExposedBytesMax;

/// One link, the payload that A exposes, and where B wants it.
struct ZeroCopy {
  explicit ZeroCopy(World& its_world, bool one_node = true)
      : world(its_world), subject(its_world.subject(one_node)), rig(subject), link(rig.link()) {
    link.b->place = [this](Bytes, std::size_t bytes) { return MutableBytes(place).first(bytes); };
  }
  Post expose(std::uint64_t cookie = 1) {
    return link.a->endpoint().post({header, data, cookie, true, true});
  }
  /// Until B's device has been told to read.
  void begin() {
    world.fabric.reads_stand_still = true;
    REQUIRE(expose() == Post::kPosted);
    for (int i = 0; i < 4; ++i) rig.turn();
    REQUIRE(link.b->frames == 0);
  }
  bool place_is_untouched() const {
    return std::ranges::all_of(place, [](std::byte each) { return each == std::byte{0xDD}; });
  }
  void all_goes_on() {
    world.fabric.reads_stand_still = false;
    rig.settle();
  }

  World& world;
  Subject subject;
  Rig rig;
  Link link;
  const Blob header = pattern(3, 48);
  Blob data = pattern(4, kBytes);
  Blob place = Blob(kBytes, std::byte{0xDD});
};

}  // namespace

TEST_CASE("an exposed payload is read once, straight into place, and registered only meanwhile") {
  for (const bool one_node : {true, false}) {  // without and with a checksum
    World world;
    ZeroCopy zero_copy(world, one_node);
    const std::size_t before = world.fabric.alive();
    zero_copy.begin();
    CHECK(world.fabric.exposed() == 1);
    CHECK(world.fabric.alive() == before + 2);
    zero_copy.world.fabric.reads_stand_still = false;
    bool is_registered = true;
    zero_copy.link.b->on_each = [&](Bytes, Bytes payload) {
      CHECK(payload.data() == zero_copy.place.data());
      is_registered = world.fabric.alive() > before + 1;  // besides the exporter's
    };
    REQUIRE(zero_copy.rig.until([&] { return zero_copy.link.a->sent.size() == 1; }));
    CHECK(!is_registered);
    CHECK(zero_copy.place == zero_copy.data);
    CHECK(world.fabric.bytes_read() == kBytes);
    CHECK(world.fabric.alive() == before);
    CHECK(zero_copy.link.a->endpoint().in_flight() == 0);
  }
}

TEST_CASE("where the exporter's memory cannot be registered the payload is wanted in pieces") {
  World world;
  ZeroCopy zero_copy(world);
  world.adapters[0]->user_register_max = 0;
  CHECK(zero_copy.expose() == Post::kSmaller);
  CHECK(zero_copy.expose() == Post::kSmaller);
  CHECK(zero_copy.link.a->endpoint().stats().registrations_refused == 1);  // tried once
  REQUIRE(transfer(zero_copy.rig, *zero_copy.link.a, *zero_copy.link.b, {{1, 8, 30000}}));
  CHECK(world.fabric.bytes_read() == 0);
}

TEST_CASE("where the place cannot be registered it is filled by way of a buffer") {
  World world;
  ZeroCopy zero_copy(world);
  world.adapters[1]->user_register_max = 0;
  REQUIRE(zero_copy.expose() == Post::kPosted);
  REQUIRE(zero_copy.rig.until([&] { return zero_copy.link.a->sent.size() == 1; }));
  CHECK(zero_copy.place == zero_copy.data);
  CHECK(zero_copy.link.b->endpoint().stats().registrations_refused == 1);
}

TEST_CASE("users' memory leaves most of what may be locked to the buffers of connections") {
  World world;
  ZeroCopy zero_copy(world);
  world.adapters[0]->lockable = 6 * kBytes;
  CHECK(zero_copy.expose() == Post::kPosted);
  CHECK(zero_copy.expose() == Post::kSmaller);
  CHECK(zero_copy.link.a->endpoint().stats().registrations_refused == 0);
  REQUIRE(zero_copy.rig.until([&] { return zero_copy.link.a->sent.size() == 1; }));
  CHECK(zero_copy.expose() == Post::kPosted);
  REQUIRE(zero_copy.rig.until([&] { return zero_copy.link.a->sent.size() == 2; }));
}

TEST_CASE("a read that was posted does not land in memory that was wanted back") {
  for (const bool closes : {false, true}) {
    World world;
    ZeroCopy zero_copy(world);
    zero_copy.begin();
    if (closes)
      zero_copy.link.b->close();
    else
      zero_copy.link.b->endpoint().let_go();
    world.fabric.reads_stand_still = false;
    for (int i = 0; i < 4; ++i) zero_copy.rig.b().turn();  // the exporter has not heard of it
    CHECK(zero_copy.place_is_untouched());
    zero_copy.all_goes_on();
    CHECK(zero_copy.place_is_untouched());
    CHECK(zero_copy.link.a->downs.size() == 1);
    CHECK(zero_copy.link.a->sent.empty());
    CHECK(world.fabric.exposed() == 0);
  }
}

TEST_CASE("a payload that was wanted back is not read any more") {
  for (const bool closes : {false, true}) {
    World world;
    ZeroCopy zero_copy(world);
    zero_copy.begin();
    if (closes)
      zero_copy.link.a->close();
    else
      zero_copy.link.a->endpoint().let_go();
    CHECK(world.fabric.exposed() == 0);
    zero_copy.all_goes_on();
    CHECK(zero_copy.link.b->downs.size() == 1);
    CHECK(zero_copy.link.b->frames == 0);
    CHECK(zero_copy.place_is_untouched());
  }
}

TEST_CASE("a read by way of a buffer that is torn off takes no other message's buffer") {
  World world;
  ZeroCopy zero_copy(world);
  Link other = zero_copy.rig.link();
  world.adapters[1]->user_register_max = 0;
  zero_copy.begin();
  zero_copy.link.b->close();
  zero_copy.world.fabric.reads_stand_still = false;
  std::vector<Expected> frames;
  for (std::uint64_t seed = 0; seed < 300; ++seed) frames.push_back({seed, 16, 20000});
  REQUIRE(transfer(zero_copy.rig, *other.a, *other.b, frames));
  check_received(*other.b, frames);
  CHECK(zero_copy.place_is_untouched());
}

TEST_CASE("a read that fails half way takes its connection down, and nothing is delivered") {
  for (const ibv_wc_status status : {IBV_WC_RETRY_EXC_ERR, IBV_WC_LOC_QP_OP_ERR}) {
    World world;
    ZeroCopy zero_copy(world);
    world.adapters[1]->read_failures = {status};
    REQUIRE(zero_copy.expose() == Post::kPosted);
    REQUIRE(zero_copy.rig.until(
        [&] { return !zero_copy.link.a->downs.empty() && !zero_copy.link.b->downs.empty(); }));
    CHECK(zero_copy.link.b->frames == 0);
    CHECK(world.fabric.exposed() == 0);
  }
}

TEST_CASE("a flipped bit in a payload that was read is seen, and nothing of it delivered") {
  World world;
  ZeroCopy zero_copy(world, false);
  world.fabric.flip_bit_of_next_read();
  REQUIRE(zero_copy.expose() == Post::kPosted);
  REQUIRE(zero_copy.rig.until([&] { return !zero_copy.link.b->downs.empty(); }));
  CHECK(zero_copy.link.b->downs[0].code == Errc::kCorrupt);
  CHECK(says(zero_copy.link.b->downs[0].text, "checksum over a payload"));
  CHECK(zero_copy.link.b->frames == 0);
  REQUIRE(zero_copy.rig.until([&] { return !zero_copy.link.a->downs.empty(); }));
  CHECK(zero_copy.link.a->sent.empty());
}

TEST_CASE("a device that is lost in the middle gives all memory back") {
  for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
    World world;
    ZeroCopy zero_copy(world);
    zero_copy.begin();
    world.fabric.fail(*world.adapters[which]);
    End& end = which == 0 ? *zero_copy.link.a : *zero_copy.link.b;
    REQUIRE(zero_copy.rig.until([&] { return !end.downs.empty(); }));
    end.close();
    zero_copy.all_goes_on();
    CHECK(zero_copy.place_is_untouched());
    CHECK((which == 1 || world.fabric.exposed() == 0));
  }
}

TEST_CASE("a peer's last word ends a read that would wait for its device for seconds") {
  World world;
  ZeroCopy zero_copy(world);
  zero_copy.begin();
  zero_copy.link.a->close();
  REQUIRE(zero_copy.rig.until([&] { return !zero_copy.link.b->downs.empty(); }));
  CHECK(says(zero_copy.link.b->downs[0].text, "closed the connection"));
}
