// SPDX-License-Identifier: BSD-3-Clause
// HOLD between engines over real sockets and memory: what is parked, for how long, and that nothing
// is lost.
#include "tests/unit/core/engine/long_hold.h"
#include "tests/unit/core/engine/rig.h"
#include "tests/unit/core/engine/traffic.h"

using namespace livebtl;
using namespace livebtl::test;
using core::HoldState;

namespace {

bool all_are(Rig& rig, HoldState state) {
  return std::ranges::all_of(rig.engines,
                             [&](auto& engine) { return engine->hold_report().state == state; });
}

void park(Rig& rig, Traffic& traffic, std::uint64_t id) {
  for (auto& engine : rig.engines) REQUIRE(engine->hold({id, kLong, 0}).refusal == "");
  rig.until([&] {
    traffic.step();
    return all_are(rig, HoldState::kParked);
  });
}

/// Frames that any engine has sent or received, over any transport.
std::uint64_t frames(Rig& rig) {
  std::uint64_t count = 0;
  for (auto& engine : rig.engines) {
    for (const auto& transport : engine->status().transports)
      count += transport.carried.frames_sent + transport.carried.frames_received;
  }
  return count;
}

/// Whether all transports may carry large messages to all engines; they are dialled for those last.
bool all_connected(Rig& rig) {
  return std::ranges::all_of(rig.engines, [&](const auto& engine) {
    const auto transports = engine->status().transports;
    return std::ranges::all_of(transports, [&](const auto& each) {
      return each.name == "self" || each.bulk_peers == rig.engines.size() - 1;
    });
  });
}

void turn(Rig& rig, Traffic& traffic, int times) {
  for (int i = 0; i < times; ++i) {
    traffic.step();
    for (auto& engine : rig.engines) {
      engine->progress();
      engine->agent_turn();
      engine->wait(0);
    }
  }
}

const std::vector<std::vector<std::string>> kSets = {{"sm"}, {"tcp"}, {"sm", "tcp"}};

}  // namespace

TEST_CASE("held engines send nothing, and go on where they were") {
  for (const auto& names : kSets) {
    CAPTURE(names);
    core::Routing routing;
    // Bulk data goes over both.
    if (names.size() == 2) routing.tuning = {{"sm", {7, {}, {}}}, {"tcp", {7, {}, {}}}};
    Rig rig(3, kinds_of(names), 1, {}, 1, routing);
    Traffic traffic(rig);
    run(rig, traffic, 20);
    rig.until([&] {
      traffic.step();
      return all_connected(rig);
    });
    rig.pass(0);  // time stands still: long silence is probed, held or not
    for (std::uint64_t id = 1; id <= 20; ++id) {
      park(rig, traffic, id);
      const std::uint64_t before = frames(rig);
      turn(rig, traffic, 50);
      CHECK(frames(rig) == before);
      for (auto& engine : rig.engines) {
        const auto report = engine->end_hold(id);
        CHECK(report.state == HoldState::kNone);
        CHECK(report.id == 0);
      }
      run(rig, traffic, 5);
    }
    for (auto& engine : rig.engines) CHECK(engine->status().retransmitted_frames == 0);
  }
}

TEST_CASE("what the application sends meanwhile waits, and then it is told that there is no room") {
  Settings settings;
  settings.operations_max = 16;
  Rig rig(2, kinds_of({"tcp"}), 1, settings);
  Traffic none(rig);
  REQUIRE(rig.engines[0]->hold({9, kLong, 0}).refusal == "");
  std::vector<Watched> sends(20);
  const auto to = rig.to(0, 1);
  std::size_t accepted = 0;
  const std::uint32_t word = 7;
  const Slice slice{&word, sizeof word};
  while (accepted < sends.size() && rig.ports[0]->send({.to = to, .slices = {&slice, 1}},
                                                       sends[accepted]) == Accept::kAccepted)
    ++accepted;
  CHECK(accepted == 16);
  std::vector<Watched> receives(accepted);
  for (Watched& receive : receives)
    REQUIRE(rig.ports[1]->receive({}, receive) == Accept::kAccepted);
  for (int i = 0; i < 50; ++i) {
    for (auto& engine : rig.engines) engine->progress();
  }
  CHECK(receives[0].done_count == 0);
  CHECK(rig.engines[0]->end_hold(9).state == HoldState::kNone);
  rig.until([&] { return receives[accepted - 1].done_count == 1; });
}

TEST_CASE("a hold whose lease runs out sends on, and is broken for ever") {
  Rig rig(2, kinds_of({"tcp"}));
  Traffic traffic(rig);
  run(rig, traffic, 5);
  for (auto& engine : rig.engines) REQUIRE(engine->hold({5, kMillisecond, 0}).refusal == "");
  rig.until([&] { return all_are(rig, HoldState::kBroken); });
  run(rig, traffic, 20);
  core::EngineCore& engine = *rig.engines[0];
  CHECK(engine.hold({5, kLong, 0}).refusal.find("ran out") != std::string::npos);
  CHECK(engine.hold_report().state == HoldState::kBroken);
  CHECK(engine.end_hold(4).state == HoldState::kBroken);
  CHECK(engine.hold({6, kLong, 0}).refusal.find("0x5") != std::string::npos);  // not ended yet
  CHECK(engine.end_hold(5).state == HoldState::kNone);
  // A late order of that hold.
  CHECK(engine.hold({5, kLong, 0}).refusal.find("ended") != std::string::npos);
  run(rig, traffic, 5);
}

TEST_CASE("a process that is not held and sends to one that is breaks the hold") {
  Rig rig(2, kinds_of({"tcp"}));
  Traffic traffic(rig);
  run(rig, traffic, 5);
  core::EngineCore& engine = *rig.engines[0];
  REQUIRE(engine.hold({5, kLong, 0}).refusal == "");
  rig.until([&] { return engine.hold_report().state == HoldState::kParked; });
  CHECK(engine.hold({5, kLong, 1}).members == 1);
  rig.until([&] {
    traffic.step();
    return engine.hold_report().state == HoldState::kBroken;
  });
  CHECK(engine.hold_report().why.find("not held") != std::string::npos);
  run(rig, traffic, 5);
  engine.end_hold(5);
}

TEST_CASE("a lease is renewed by the hold that has it, and by no other") {
  Rig rig(2, kinds_of({"sm"}));
  core::EngineCore& engine = *rig.engines[0];
  CHECK(engine.hold({5, kSecond, 0}).left_ms <= 1000);
  CHECK(engine.hold({5, kLong, 0}).left_ms > 1000);
  const auto other = engine.hold({6, kLong, 0});
  CHECK(other.refusal.find("0x5") != std::string::npos);
  CHECK(other.id == 5);
  CHECK(engine.end_hold(6).id == 5);
}

TEST_CASE("a switch and a hold exclude each other") {
  Rig rig(2, kinds_of({"sm", "tcp"}));
  Traffic traffic(rig);
  run(rig, traffic, 5);
  core::Routing moved;
  moved.moved["sm"] = "tcp";
  core::EngineCore& engine = *rig.engines[0];
  REQUIRE(engine.hold({5, kLong, 0}).refusal == "");
  engine.submit({1, 1, core::Rung::kJoint, {}, moved});
  CHECK(engine.report().refusal.find("held") != std::string::npos);
  engine.submit(
      {1, 1, core::Rung::kOld, {}, moved});  // so it is taken back, and that does not wait
  CHECK(engine.report().reached);
  engine.end_hold(5);
  for (auto& each : rig.engines) each->submit({2, 2, core::Rung::kJoint, {}, moved});
  CHECK(engine.hold({6, kLong, 0}).refusal.find("switch") != std::string::npos);
  CHECK(engine.hold_report().state == HoldState::kNone);
  run(rig, traffic, 5);
}

TEST_CASE("a held process answers the probes of one that is not held, and both keep their paths") {
  Settings settings;
  settings.probe_ms = 5;
  Rig rig(2, kinds_of({"tcp"}), 1, settings);
  Traffic traffic(rig);
  run(rig, traffic, 5);
  REQUIRE(rig.engines[0]->hold({5, kLong, 0}).refusal == "");
  rig.until([&] {
    traffic.step();
    return rig.engines[0]->hold_report().state == HoldState::kParked;
  });
  const TimeNs until = monotonic_now() + 50 * kMillisecond;  // time for some probes
  while (monotonic_now() < until) turn(rig, traffic, 1);
  for (auto& engine : rig.engines) {
    for (const auto& transport : engine->status().transports) CHECK(transport.paths_lost == 0);
  }
  rig.engines[0]->end_hold(5);
  run(rig, traffic, 5);
}

TEST_CASE("a held process does not take the silence of a stopped peer for a broken path") {
  Settings settings;
  settings.probe_ms = 5;
  Rig rig(2, kinds_of({"tcp"}), 1, settings);
  Traffic traffic(rig);
  run(rig, traffic, 5);
  park(rig, traffic, 5);
  const TimeNs until = monotonic_now() + 50 * kMillisecond;  // time for some probes
  while (monotonic_now() < until) {
    traffic.step();
    rig.engines[0]->progress();
    rig.engines[0]->wait(0);
  }
  for (auto& engine : rig.engines) {
    for (const auto& transport : engine->status().transports) CHECK(transport.paths_lost == 0);
    engine->end_hold(5);
  }
  run(rig, traffic, 5);
}

TEST_CASE("nothing goes to a process that has said goodbye while the job is held") {
  for (const char* transport : {"sm", "tcp"}) {
    CAPTURE(transport);
    Rig rig(2, kinds_of({transport}));
    Traffic traffic(rig);
    rig.until([&] {
      traffic.step();
      return used(rig, 0, 1) == transport && used(rig, 1, 0) == transport;
    });
    const Destination gone = rig.to(0, 1);
    while (!rig.engines[1]->linger_turn()) turn(rig, traffic, 1);
    rig.until([&] { return rig.engines[0]->status().peers.empty(); });  // it has heard it
    REQUIRE(rig.engines[0]->hold({1, kLong, 0}).refusal == "");
    rig.until([&] { return rig.engines[0]->hold_report().state == HoldState::kParked; });
    const std::uint64_t before = rig.engines[0]->status().transports[1].carried.frames_sent;
    Watched send;
    REQUIRE(rig.ports[0]->send({.to = gone, .tag = 1}, send) == Accept::kAccepted);
    for (int i = 0; i < 100; ++i) rig.engines[0]->progress();
    CHECK(rig.engines[0]->status().transports[1].carried.frames_sent == before);
    rig.ports.clear();
  }
}
