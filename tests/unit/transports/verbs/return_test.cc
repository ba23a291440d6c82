// SPDX-License-Identifier: BSD-3-Clause
// Devices that vanish under a pair and come back: what was sent arrives, and verbs is used again
// once it has settled, by order, or not at all.
#include "tests/unit/says.h"
#include "tests/unit/transports/verbs/engine_kit.h"

using namespace livebtl;
using namespace livebtl::test;
using livebtl::test::says;

namespace {

constexpr TimeNs kStep = 50 * kMillisecond;

/// How much engine time passes until the condition holds; `at_most`: it never did.
template <class Condition>
TimeNs passes(Rig& rig, TimeNs at_most, Condition condition) {
  TimeNs passed = 0;
  for (; passed < at_most && !condition(); passed += kStep) {
    rig.pass(kStep);
    for (int turn = 0; turn < 20; ++turn) {
      for (auto& engine : rig.engines) engine->progress();
    }
  }
  return passed;
}

bool both_by(const Rig& rig, const std::string& transport) {
  return sends_by(rig, 0) == transport && sends_by(rig, 1) == transport;
}

/// How long it takes until both send over that transport.
TimeNs time_to(Rig& rig, const std::string& transport, TimeNs at_most = 600 * kSecond) {
  const TimeNs time = passes(rig, at_most, [&] { return both_by(rig, transport); });
  message(rig, 100000);
  return time;
}

/// Only tcp is used for that long.
void stays_on_tcp(Rig& rig, TimeNs time) {
  CHECK(passes(rig, time, [&] { return !both_by(rig, "tcp"); }) == time);
  message(rig);
}

std::string absent(Rig& rig, std::size_t engine = 0) {
  const auto all = rig.engines[engine]->report().absent;
  return all.empty() ? "" : all.front();
}
/// Two processes that send over verbs.
struct Pair {
  explicit Pair(Settings settings = {}) : rig(2, {kind("tcp"), verbs_of(world)}, 1, settings) {
    message(rig);
    both_send_by(rig, "verbs");
    CHECK(time_to(rig, "verbs") < kSecond);
  }
  void unplug(std::size_t end = 0) {
    fake_verbs::Adapter& adapter = *world.adapters[end];
    world.fabric.unplug(adapter);
    CHECK(time_to(rig, "tcp") < kSecond);
    passes(rig, kSecond, [&] { return adapter.contexts.empty(); });
    CHECK(adapter.contexts.empty());
  }
  void plug_in(std::size_t end = 0) { world.fabric.plug_in(*world.adapters[end]); }

  fake_verbs::World world;
  Rig rig;
};

Settings off() {
  Settings settings;
  settings.returns = false;
  return settings;
}

core::RungOrder wanting(const std::string& transport) {
  core::RungOrder order;
  order.wanted = transport;
  return order;
}
core::RungOrder patient() {
  core::RungOrder order;
  order.patient = true;
  return order;
}

}  // namespace

TEST_CASE("a device that vanished is used again when it has been back for five seconds") {
  Pair pair;
  pair.unplug();
  CHECK(says(absent(pair.rig), "verbs: "));
  stays_on_tcp(pair.rig, 20 * kSecond);
  CHECK(says(absent(pair.rig), "verbs: this machine has no RDMA device"));
  CHECK(!says(absent(pair.rig), "verbs: verbs: "));
  pair.plug_in();
  const TimeNs time = time_to(pair.rig, "verbs");
  CHECK(time >= 5 * kSecond);
  CHECK(time < 8 * kSecond);
  CHECK(absent(pair.rig).empty());
  CHECK(absent(pair.rig, 1).empty());
}

TEST_CASE("a device that vanishes again and again is left alone for ever longer") {
  Pair pair;
  for (const TimeNs seconds : {5, 10, 20, 40}) {
    pair.unplug();
    stays_on_tcp(pair.rig, kSecond);
    pair.plug_in();
    const TimeNs time = time_to(pair.rig, "verbs");
    CHECK(time >= seconds * kSecond);
    CHECK(time < (seconds + 3) * kSecond);
  }
}

TEST_CASE("each end counts the losses of its own device alone") {
  Pair pair;
  for (const TimeNs seconds : {5, 10, 20}) {
    for (const std::size_t end : {0u, 1u}) {
      pair.unplug(end);
      stays_on_tcp(pair.rig, kSecond);
      pair.plug_in(end);
      const TimeNs time = time_to(pair.rig, "verbs");
      CHECK(time >= seconds * kSecond);
      CHECK(time < (seconds + 3) * kSecond);
    }
  }
}

TEST_CASE("a device that is away but for a moment is not used at first sight either") {
  Pair pair;
  pair.world.fabric.unplug(*pair.world.adapters[0]);
  pair.rig.until([&] { return pair.world.adapters[0]->contexts.empty(); });
  pair.plug_in();
  CHECK(time_to(pair.rig, "tcp") < kSecond);
  CHECK(time_to(pair.rig, "verbs") >= 5 * kSecond - kStep);
}

TEST_CASE("a port that is down counts as a device that is not there") {
  Pair pair;
  pair.world.fabric.set_port(*pair.world.adapters[0], IBV_PORT_DOWN);
  CHECK(time_to(pair.rig, "tcp") < kSecond);
  stays_on_tcp(pair.rig, 20 * kSecond);
  CHECK(says(absent(pair.rig), "port 1 is down"));
  pair.world.fabric.set_port(*pair.world.adapters[0], IBV_PORT_ACTIVE);
  CHECK(time_to(pair.rig, "verbs") >= 5 * kSecond);
}

TEST_CASE("a path that breaks between two good devices is made anew after as long") {
  Pair pair;
  for (const TimeNs seconds : {5, 10, 20}) {
    pair.world.adapters[0]->failures = {IBV_WC_RETRY_EXC_ERR};
    message(pair.rig, 100000);
    CHECK(time_to(pair.rig, "tcp") < kSecond);
    CHECK(says(absent(pair.rig), "1 pair has lost the path"));
    const TimeNs time = time_to(pair.rig, "verbs");
    CHECK(time >= (seconds - 1) * kSecond);
    CHECK(time < (seconds + 8) * kSecond);
  }
}

TEST_CASE("where return is off, what vanished is used again by order alone") {
  Pair pair(off());
  pair.unplug();
  pair.plug_in();
  stays_on_tcp(pair.rig, 60 * kSecond);
  CHECK(says(absent(pair.rig), "LIVEBTL_RETURN is off"));
  core::Routing tuned;
  tuned.tuning["tcp"].weight = 3;
  climb(pair.rig, 1, {}, tuned);  // for another transport: carried out, but no effect here
  stays_on_tcp(pair.rig, 10 * kSecond);
  climb(pair.rig, 2, tuned, tuned, wanting("verbs"));
  CHECK(time_to(pair.rig, "verbs") < kSecond);
  CHECK(absent(pair.rig).empty());
}

TEST_CASE("where return is off, a pair that lost its path by good devices stays where it is") {
  Pair pair(off());
  pair.world.adapters[0]->failures = {IBV_WC_RETRY_EXC_ERR};
  message(pair.rig, 100000);
  CHECK(time_to(pair.rig, "tcp") < kSecond);
  stays_on_tcp(pair.rig, 60 * kSecond);
  climb(pair.rig, 1, {}, {}, wanting("verbs"));
  CHECK(time_to(pair.rig, "verbs") < kSecond);
}

TEST_CASE("what an operator has excluded does not return") {
  Pair pair;
  pair.unplug();
  climb(pair.rig, 1, {}, kWithout);
  CHECK(absent(pair.rig).empty());
  pair.plug_in();
  stays_on_tcp(pair.rig, 60 * kSecond);
  CHECK(pair.world.fabric.alive() == 0);
}

TEST_CASE("an order for a device that vanished has it back at once, or is refused") {
  Pair pair;
  pair.unplug();
  core::RungOrder order = wanting("verbs");
  order.operation = order.epoch = 1;
  order.rung = core::Rung::kJoint;
  pair.rig.engines[0]->submit(order);
  CHECK(says(pair.rig.engines[0]->report().refusal, "no RDMA device"));
  pair.plug_in();
  climb(pair.rig, 2, {}, {}, wanting("verbs"));
  CHECK(time_to(pair.rig, "verbs") < kSecond);
}

TEST_CASE("what is ordered back before its device is there comes with it, whatever the setting") {
  fake_verbs::World world;
  Rig rig(2, {kind("tcp"), verbs_of(world)}, 1, off(), 1, kWithout);
  message(rig);
  world.fabric.unplug(*world.adapters[0]);
  climb(rig, 1, kWithout, {}, patient());
  CHECK(says(absent(rig), "no RDMA device"));
  CHECK(absent(rig, 1).empty());
  stays_on_tcp(rig, 20 * kSecond);
  world.fabric.plug_in(*world.adapters[0]);
  SUBCASE("by itself, when it has settled") { CHECK(time_to(rig, "verbs") >= 5 * kSecond); }
  SUBCASE("at once, when it is ordered again") {
    climb(rig, 2, {}, {}, patient());
    CHECK(time_to(rig, "verbs") < kSecond);
  }
  CHECK(absent(rig).empty());
}

TEST_CASE("a device that appears under a job that asked for it is used when it has settled") {
  fake_verbs::World world;
  world.fabric.unplug(*world.adapters[0]);
  Rig rig(2, {kind("tcp"), verbs_of(world)});
  message(rig);
  stays_on_tcp(rig, 5 * kSecond);
  world.fabric.plug_in(*world.adapters[0]);
  CHECK(time_to(rig, "verbs") >= 5 * kSecond);
}
