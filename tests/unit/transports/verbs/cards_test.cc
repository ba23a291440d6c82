// SPDX-License-Identifier: BSD-3-Clause
// Whole engines with two devices each: which one a pair uses, that large messages go over both, and
// that one of them is lost, removed, switched and regained without involving the other, or tcp.
#include "tests/unit/transports/verbs/engine_kit.h"
#include "tests/unit/transports/verbs/system_files.h"

using namespace livebtl;
using namespace livebtl::test;
using fake_verbs::World;

namespace {

const std::string kOne = "verbs:fake0", kOther = "verbs:fake1";
constexpr std::size_t kLarge = 16u << 20;

core::TransportKind module_of(World& world, const std::string& device, std::uint8_t place,
                              const std::string& system_files = "/nonexistent") {
  const std::string name = "verbs:" + device;
  return {name, "", [&world, name, device, place, system_files](const core::NodeFacts& facts) {
            return world.make(static_cast<std::uint64_t>(facts.process) - Rig::kFirstProcess + 1,
                              facts.node, {name, {device}, place, system_files});
          }};
}

std::uint64_t sent_by(Rig& rig, std::size_t engine, const std::string& transport) {
  for (const auto& each : rig.engines[engine]->status().transports) {
    if (each.name == transport) return each.carried.bytes_sent;
  }
  return 0;
}

/// Two processes with two devices each, and tcp.
struct Cards {
  explicit Cards(const core::Routing& routing = {}) {
    world.add_device("fake1");
    rig = std::make_unique<Rig>(
        2, std::vector{kind("tcp"), module_of(world, "fake0", 0), module_of(world, "fake1", 1)}, 1,
        Settings{}, 1, routing);
    message(*rig);
  }
  fake_verbs::Adapter& adapter(std::size_t device, std::size_t end) {
    return *world.adapters[2 * device + end];
  }
  void until_both_carry() {
    both_send_by(*rig, kOne);
    rig->until([&] {
      message(*rig, kLarge);
      return read_by(kOther) != 0 && read_by(kOne) != 0;
    });
  }
  /// Payloads that rank 1 has read over that device.
  std::uint64_t read_by(const std::string& transport) {
    for (const auto& each : rig->engines[1]->status().transports) {
      if (each.name == transport) return each.carried.frames_read_remotely;
    }
    return 0;
  }

  World world;
  std::unique_ptr<Rig> rig;
};

}  // namespace

TEST_CASE("a pair sends by the first in the list, and its large messages go over both") {
  Cards cards;
  cards.until_both_carry();
  CHECK(sends_by(*cards.rig, 1) == kOne);
  const std::uint64_t tcp = sent_by(*cards.rig, 0, "tcp");
  const std::uint64_t one = cards.read_by(kOne), other = cards.read_by(kOther);
  message(*cards.rig, kLarge);
  CHECK(cards.read_by(kOne) > one);
  CHECK(cards.read_by(kOther) > other);
  CHECK(sent_by(*cards.rig, 0, "tcp") == tcp);
}

TEST_CASE("the nearest device is used first, whatever the order of the list; both ends count") {
  World world;
  world.add_device("fake1");
  SystemFiles files;
  files.add_node(0, "0-4095", "10 20");
  files.add_node(1, "", "20 10");
  files.set_node("fake0", "1");
  files.set_node("fake1", "0");
  Rig rig(2, {kind("tcp"), module_of(world, "fake0", 0, files.path),
              module_of(world, "fake1", 1, files.path)});
  message(rig);
  both_send_by(rig, kOther);
  CHECK(sends_by(rig, 1) == kOther);
}

TEST_CASE("a device is lost: its pairs go over the other, not over tcp, and come back") {
  Cards cards;
  cards.until_both_carry();
  const std::uint64_t tcp = sent_by(*cards.rig, 0, "tcp");
  cards.world.fabric.unplug(cards.adapter(0, 1));
  both_send_by(*cards.rig, kOther);
  message(*cards.rig, kLarge);
  CHECK(sends_by(*cards.rig, 1) == kOther);
  CHECK(sent_by(*cards.rig, 0, "tcp") - tcp < 1000);  // only word of the lost path
  cards.world.fabric.plug_in(cards.adapter(0, 1));
  for (int i = 0; i < 400 && sends_by(*cards.rig, 0) != kOne; ++i) {
    cards.rig->pass(50 * kMillisecond);
    for (int turn = 0; turn < 20; ++turn) {
      for (auto& engine : cards.rig->engines) engine->progress();
    }
  }
  both_send_by(*cards.rig, kOne);
}

TEST_CASE("a device fails in the middle of a large message: every byte arrives, by the other") {
  for (const std::size_t device : {0U, 1U}) {
    for (const std::size_t end : {0U, 1U}) {
      Cards cards;
      cards.until_both_carry();
      const auto data = pattern(kLarge, device + 2 * end);
      std::vector<std::byte> taken(kLarge);
      const Slice from{data.data(), kLarge};
      const MutableSlice into{taken.data(), kLarge};
      Watched send, receive;
      ReceiveRequest wanted{.ignore = ~Tag{0}};
      wanted.slices = {&into, 1};
      REQUIRE(cards.rig->ports[1]->receive(wanted, receive) == Accept::kAccepted);
      SendRequest request{.to = cards.rig->to(0, 1)};
      request.slices = {&from, 1};
      const std::uint64_t before = cards.read_by(device == 0 ? kOne : kOther);
      REQUIRE(cards.rig->ports[0]->send(request, send) == Accept::kAccepted);
      cards.rig->until([&] { return cards.read_by(device == 0 ? kOne : kOther) > before; });
      REQUIRE(receive.done_count == 0);
      const std::uint64_t tcp = sent_by(*cards.rig, 0, "tcp");
      cards.world.fabric.fail(cards.adapter(device, end));
      cards.rig->until([&] { return receive.done_count != 0 && send.done_count != 0; });
      CHECK(taken == data);
      CHECK(sent_by(*cards.rig, 0, "tcp") - tcp < 100'000);
      message(*cards.rig, kLarge);
    }
  }
}

TEST_CASE("one device is removed alone, and nothing of it is left; the other goes on") {
  Cards cards;
  cards.until_both_carry();
  const core::Routing without = routing_without(kOne);
  climb(*cards.rig, 1, {}, without);
  both_send_by(*cards.rig, kOther);
  message(*cards.rig, kLarge);
  for (const std::size_t end : {0U, 1U}) {
    CHECK(cards.adapter(0, end).contexts.empty());
    CHECK(cards.adapter(1, end).contexts.size() == 1);
    CHECK(cards.rig->engines[end]->report().other_holders.empty());
  }
  climb(*cards.rig, 2, without, {});
  cards.until_both_carry();
}

TEST_CASE("the word verbs is an order for both: closed from the start, added, removed") {
  Cards cards(kWithout);
  CHECK(cards.world.fabric.alive() == 0);
  core::RungOrder add;
  add.wanted = "verbs";
  climb(*cards.rig, 1, kWithout, {}, add);
  cards.until_both_carry();
  climb(*cards.rig, 2, {}, kWithout);
  both_send_by(*cards.rig, "tcp");
  CHECK(cards.world.fabric.alive() == 0);
}

TEST_CASE("pairs are switched from one device to the other, from both to tcp, and back") {
  Cards cards;
  cards.until_both_carry();
  core::Routing one, both, back;
  one.moved = {{kOne, kOther}};
  climb(*cards.rig, 1, {}, one);
  both_send_by(*cards.rig, kOther);
  both.moved = {{"verbs", "tcp"}};
  climb(*cards.rig, 2, one, both);
  both_send_by(*cards.rig, "tcp");
  back.moved = {{"tcp", "verbs"}};
  climb(*cards.rig, 3, both, back);
  both_send_by(*cards.rig, kOne);
}

TEST_CASE("processes whose lists differ meet over what both have") {
  World world;
  world.add_device("fake1");
  Rig rig(1, {kind("tcp"), module_of(world, "fake0", 0), module_of(world, "fake1", 1)});
  rig.join({kind("tcp"), module_of(world, "fake1", 0)});
  message(rig);
  both_send_by(rig, kOther);
  message(rig, kLarge);
  CHECK(sends_by(rig, 1) == kOther);
}
