// SPDX-License-Identifier: BSD-3-Clause
// Large messages, puts and gets of whole engines over verbs: read by the device from memory to
// memory; whatever breaks, is removed or is wanted back meanwhile, they arrive whole or end in good
// order.
#include "tests/unit/transports/verbs/engine_kit.h"

using namespace livebtl;
using namespace livebtl::test;
using fake_verbs::World;

namespace {

constexpr std::size_t kLargeBytes = 3u << 20;
constexpr std::byte kOwn{0xDD};  // written by the owner once it has the memory back

/// Two engines over verbs, and one large message, put or get from memory of rank 0 to rank 1.
struct Large {
  explicit Large(World& its_world, bool with_checksums = false)
      : world(its_world),
        rig(2, {kind("tcp"), verbs_of(its_world)}, 1, {}, with_checksums ? 2 : 1),
        data(pattern(kLargeBytes, 5)),
        target(kLargeBytes, std::byte{0}) {
    message(rig);
    both_send_by(rig, "verbs");
    receiving = rig.engines[1]->open_port({}).value();
  }
  ~Large() { rig.ports.clear(); }  // ends what is open before its memory goes
  void send() {
    const MutableSlice into{target.data(), kLargeBytes};
    ReceiveRequest wanted{.tag = 1};
    wanted.slices = {&into, 1};
    REQUIRE(receiving->receive(wanted, received) == Accept::kAccepted);
    const Slice from{data.data(), kLargeBytes};
    SendRequest request{.to = *rig.engines[0]->peer(receiving->address()), .tag = 1};
    request.slices = {&from, 1};
    REQUIRE(rig.ports[0]->send(request, sent) == Accept::kAccepted);
  }
  std::uint64_t share(std::size_t rank, std::vector<std::byte>& memory) {
    RegionRequest request;
    request.base = memory.data();
    request.bytes = memory.size();
    return rig.ports[rank]->register_region(request).value();
  }
  void put(std::uint64_t key) {
    const Slice slice{data.data(), kLargeBytes};
    PutRequest request;
    request.to = rig.to(0, 1);
    request.remote = {key, 0};
    request.slices = {&slice, 1};
    REQUIRE(rig.ports[0]->put(request, sent) == Accept::kAccepted);
  }
  /// Until a device has started to read, without progress.
  void begin_send() {
    world.fabric.reads_stand_still = true;
    send();
    until_lent();
  }
  void until_lent() {
    rig.until([&] { return world.fabric.exposed() != 0; });
    for (int i = 0; i < 20; ++i) turn();
  }
  void turn() {
    for (auto& engine : rig.engines) {
      engine->progress();
      engine->agent_turn();
    }
  }
  void finish() {
    world.fabric.reads_stand_still = false;
    rig.until([&] { return sent.done_count == 1 && received.done_count == 1; });
    CHECK(sent.completion.code == Errc::kOk);
    CHECK(target == data);
    CHECK(world.fabric.exposed() == 0);
  }
  bool target_is_own() const {
    return std::ranges::all_of(target, [](std::byte each) { return each == kOwn; });
  }

  World& world;
  Rig rig;
  std::vector<std::byte> data, target;
  Watched sent, received;
  std::unique_ptr<Port> receiving;
};

}  // namespace

TEST_CASE("a large message goes by reads, each byte once") {
  for (const bool with_checksums : {false, true}) {
    World world;
    Large large(world, with_checksums);
    large.send();
    large.finish();
    CHECK(world.fabric.bytes_read() == kLargeBytes);
  }
}

TEST_CASE("a large put goes by reads into the region, with a checksum by way of a buffer") {
  for (const bool with_checksums : {false, true}) {
    World world;
    Large large(world, with_checksums);
    large.put(large.share(1, large.target));
    large.rig.until([&] { return large.sent.done_count == 1; });
    CHECK(large.sent.completion.code == Errc::kOk);
    CHECK(large.target == large.data);
    CHECK(world.fabric.bytes_read() == kLargeBytes);
  }
}

TEST_CASE("a large get goes by reads") {
  World world;
  Large large(world);
  const MutableSlice into{large.target.data(), kLargeBytes};
  GetRequest request;
  request.to = large.rig.to(1, 0);
  request.remote = {large.share(0, large.data), 0};
  request.slices = {&into, 1};
  REQUIRE(large.rig.ports[1]->get(request, large.received) == Accept::kAccepted);
  large.rig.until([&] { return large.received.done_count == 1; });
  CHECK(large.received.completion.code == Errc::kOk);
  CHECK(large.target == large.data);
  CHECK(world.fabric.bytes_read() == kLargeBytes);
}

TEST_CASE("where memory cannot be registered a large message is copied, and arrives") {
  for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
    World world;
    Large large(world);
    world.adapters[which]->user_register_max = 0;
    large.send();
    large.finish();
    if (which == 0) CHECK(world.fabric.bytes_read() == 0);
  }
}

TEST_CASE("a path that breaks in the middle of a read: what is missing goes by the next one") {
  for (const bool gone : {false, true}) {
    World world;
    Large large(world, true);
    large.begin_send();
    world.adapters[1]->read_failures = {IBV_WC_RETRY_EXC_ERR};  // half of the data is there by then
    if (gone) world.adapters[1]->port_state = IBV_PORT_DOWN;
    large.finish();
    if (gone) CHECK(sends_by(large.rig, 0) == "tcp");
  }
}

TEST_CASE("a device that is pulled while it reads costs its path and not the message") {
  for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
    World world;
    Large large(world);
    large.begin_send();
    world.fabric.fail(*world.adapters[which]);
    large.finish();
    CHECK(sends_by(large.rig, 0) == "tcp");
  }
}

TEST_CASE("verbs is not taken away while a device reads, and the rest goes by tcp") {
  World world;
  Large large(world);
  order(large.rig, 1, core::Rung::kJoint, {}, kWithout);
  large.rig.until([&] { return reached(large.rig); });
  large.begin_send();
  order(large.rig, 1, core::Rung::kNewTx, {}, kWithout);
  for (int i = 0; i < 300; ++i) large.turn();
  CHECK(!reached(large.rig));  // what is exposed is in flight
  world.fabric.reads_stand_still = false;
  large.rig.until([&] { return reached(large.rig); });
  order(large.rig, 1, core::Rung::kNew, {}, kWithout);
  large.rig.until([&] { return reached(large.rig); });
  CHECK(world.fabric.alive() == 0);
  large.finish();
  CHECK(world.fabric.bytes_read() > 0);
  CHECK(world.fabric.bytes_read() < kLargeBytes);
}

TEST_CASE("a hold waits for what a device reads, and exposes no more") {
  World world;
  Large large(world);
  large.begin_send();
  const auto state = [&](std::size_t rank) {
    return large.rig.engines[rank]->hold({1, 60 * kSecond}).state;
  };
  (void)state(0), (void)state(1);
  for (int i = 0; i < 300; ++i) large.turn();
  CHECK(state(0) == core::HoldState::kParking);
  world.fabric.reads_stand_still = false;
  large.rig.until(
      [&] { return state(0) == core::HoldState::kParked && state(1) == core::HoldState::kParked; });
  CHECK(world.fabric.exposed() == 0);
  const auto parked = world.fabric.bytes_read();
  for (int i = 0; i < 300; ++i) large.turn();
  CHECK(world.fabric.bytes_read() == parked);
  CHECK(parked < kLargeBytes);
  for (auto& engine : large.rig.engines) engine->end_hold(1);
  large.finish();
}

TEST_CASE("a port that is closed while a device reads for it has its memory back at once") {
  World world;
  Large large(world);
  large.begin_send();
  large.receiving.reset();
  CHECK(large.received.completion.code == Errc::kCancelled);
  std::fill(large.target.begin(), large.target.end(), kOwn);
  world.fabric.reads_stand_still = false;
  large.rig.until([&] { return large.sent.done_count == 1; });
  CHECK(large.sent.completion.code == Errc::kCancelled);
  both_send_by(large.rig, "verbs");
  CHECK(large.target_is_own());
  CHECK(world.fabric.exposed() == 0);
}

TEST_CASE("a port that is closed while others read from it has its memory back at once") {
  World world;
  Large large(world);
  large.begin_send();
  large.rig.ports[0].reset();
  CHECK(large.sent.completion.code == Errc::kCancelled);
  CHECK(world.fabric.exposed() == 0);
  const auto data = large.data;
  std::fill(large.data.begin(), large.data.end(), kOwn);
  world.fabric.reads_stand_still = false;
  large.rig.until([&] { return large.received.done_count == 1; });
  CHECK(large.received.completion.code == Errc::kCancelled);
  std::size_t foreign = 0;
  for (std::size_t i = 0; i < kLargeBytes; ++i)
    foreign += large.target[i] != data[i] && large.target[i] != std::byte{0} ? 1 : 0;
  CHECK(foreign == 0);
}

TEST_CASE("a region that is deregistered while a device reads into it is not written any more") {
  World world;
  Large large(world);
  const std::uint64_t key = large.share(1, large.target);
  world.fabric.reads_stand_still = true;
  large.put(key);
  large.until_lent();
  REQUIRE(large.rig.ports[1]->deregister_region(key));
  std::fill(large.target.begin(), large.target.end(), kOwn);
  world.fabric.reads_stand_still = false;
  large.rig.until([&] { return large.sent.done_count == 1; });
  CHECK(large.sent.completion.code == Errc::kBadKey);
  both_send_by(large.rig, "verbs");
  CHECK(large.target_is_own());
}
