// SPDX-License-Identifier: BSD-3-Clause
// restore_test.cc -- a job restored from snapshots: all go on as a new incarnation, over new
// connections; a process left behind is fenced out, and one that was set back alone is told.
#include "tests/unit/core/engine/restored.h"
#include "tests/unit/core/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

std::uint32_t generations(core::EngineCore& engine) {
  std::uint32_t sum = 0;
  for (const auto& peer : engine.status().peers) sum += peer.generation;
  return sum;
}

}  // namespace

TEST_CASE("a restored job goes on where it was, over connections of its own") {
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"tcp"}, {"sm"}, {"sm", "tcp"}}) {
    CAPTURE(names);
    core::Routing routing;
    if (names.size() == 2)
      routing.tuning = {{"sm", {7, {}, {}}}, {"tcp", {7, {}, {}}}};  // bulk by both
    Rig rig(3, kinds_of(names), 1, {}, 1, routing);
    Traffic traffic(rig);
    run(rig, traffic, 20);
    hold_all(rig, traffic);
    const std::uint32_t before = generations(*rig.engines[0]);
    for (auto& engine : rig.engines) restore(*engine);
    for (auto& engine : rig.engines) restore(*engine);  // again: nothing changes
    CHECK(rig.engines[0]->hold_report().state == HoldState::kParked);
    for (auto& engine : rig.engines) engine->end_hold(kHold);
    run(rig, traffic, 20);
    for (auto& engine : rig.engines) {
      const auto status = engine->status();
      CHECK(status.incarnation == kNext);
      CHECK(lost_peers(*engine) == 0);
      for (const auto& transport : status.transports) CHECK(transport.paths_lost == 0);
    }
    // sm stays: both of its ends were restored.
    if (names.back() == "tcp") CHECK(generations(*rig.engines[0]) > before);
  }
}

TEST_CASE(
    "transports are told that their process may be elsewhere now, unless it was not restored") {
  Taps taps;
  Rig rig(2, {kind("self"), tapped("tcp", taps)});
  Traffic traffic(rig);
  run(rig, traffic, 5);
  CHECK(rig.engines[0]->restore({kHold, 0}, kNext).refusal != "");
  CHECK(taps[0].relocations == 0);
  hold_all(rig, traffic);
  for (auto& engine : rig.engines) restore(*engine);
  for (auto& engine : rig.engines) engine->end_hold(kHold);
  for (const std::uint64_t i : {0U, 1U}) CHECK(taps[i].relocations == 1);
  run(rig, traffic, 5);
}

TEST_CASE("relays that were learnt by an order are told with those of peers, until the next one") {
  Rig rig(1, {kind("self")});
  auto& engine = *rig.engines[0];
  engine.learn_relays(
      {"tcp://10.0.0.7:1", "tcp://10.0.0.8:1", std::string(core::kRelayBytesMax + 1, 'x')});
  CHECK(engine.relays() == std::vector<std::string>{"tcp://10.0.0.7:1", "tcp://10.0.0.8:1"});
  std::vector<std::string> many;
  for (std::size_t i = 0; i <= core::kLearntRelaysMax; ++i)
    many.push_back("tcp://10.1.0.1:" + std::to_string(i + 1));
  engine.learn_relays(many);
  CHECK(engine.relays().size() == core::kLearntRelaysMax);
  engine.learn_relays({});  // an order that names none
  CHECK(engine.relays().size() == core::kLearntRelaysMax);
}

TEST_CASE("a process that was left behind is fenced out, and harms nobody") {
  Rig rig(3, kinds_of({"tcp"}));
  Traffic traffic(rig);
  run(rig, traffic, 5);
  hold_all(rig, traffic);
  rig.engines[2]->end_hold(kHold);  // it was let go on where it was
  for (const std::size_t i : {0U, 1U}) {
    restore(*rig.engines[i]);
    rig.engines[i]->end_hold(kHold);
  }
  rig.until([&] {
    traffic.step();
    return rig.engines[2]->hold_report().state == HoldState::kFenced;
  });
  CHECK(rig.engines[2]->hold_report().why.find("left behind") != std::string::npos);
  CHECK(rig.engines[2]->hold({9, kLong, 0}).refusal.find("left behind") != std::string::npos);
  CHECK(rig.engines[2]->end_hold(kHold).state == HoldState::kFenced);
  CHECK(rig.engines[2]->restore({kHold, 0}, Incarnation{8}).refusal != "");
  const std::uint64_t received = traffic.received(1);
  rig.until([&] {  // the others go on
    traffic.step();
    return traffic.received(1) > received + 20;
  });
  for (const std::size_t i : {0U, 1U}) CHECK(lost_peers(*rig.engines[i]) == 0);
}

TEST_CASE(
    "of two processes of one id, on two paths to a third, the older incarnation is fenced out") {
  for (const Incarnation of_copy : {Incarnation{1}, Incarnation{9}}) {
    CAPTURE(static_cast<unsigned>(of_copy));
    const std::uint32_t word = 7;
    const Slice slice{&word, sizeof word};
    Watched send;
    Rig rig(2, kinds_of({"tcp"}));
    restore_all(rig);
    rig.copy_of(1, kinds_of({"tcp"}));
    rig.open_ports();
    core::EngineCore& copy = *rig.engines[2];
    REQUIRE(copy.hold({kHold, kLong, 0, of_copy}).refusal == "");
    copy.end_hold(kHold);
    REQUIRE(rig.ports[2]->send({.to = rig.to(2, 0), .slices = {&slice, 1}}, send) ==
            Accept::kAccepted);
    core::EngineCore& older = of_copy < kNext ? copy : *rig.engines[0];
    rig.until([&] { return older.hold_report().state == HoldState::kFenced; });
    if (of_copy > kNext) continue;
    CHECK(send.done_count == 0);
    say(rig, 0, 1);
    for (const std::size_t i : {0U, 1U}) {
      CHECK(lost_peers(*rig.engines[i]) == 0);
      for (const auto& transport : rig.engines[i]->status().transports)
        CHECK(transport.paths_lost == 0);
    }
  }
}

TEST_CASE("one that was forgotten while its set was raised can be taken in again") {
  Rig rig(2, kinds_of({"tcp"}));
  Traffic traffic(rig);
  run(rig, traffic, 5);
  hold_all(rig, traffic);
  restore(*rig.engines[0]);
  rig.engines[0]->end_hold(kHold);
  // The other's lease runs out.
  REQUIRE(rig.engines[1]->hold({kHold, kMillisecond, 0}).refusal == "");
  rig.until([&] {
    traffic.step();
    return rig.engines[1]->hold_report().state == HoldState::kFenced;
  });
  restore(*rig.engines[1]);
  CHECK(rig.engines[1]->hold_report().state == HoldState::kBroken);
  rig.engines[1]->end_hold(kHold);
  run(rig, traffic, 20);
  for (auto& engine : rig.engines) CHECK(lost_peers(*engine) == 0);
}

TEST_CASE("a held process meets a newer incarnation without being fenced out by it") {
  Rig rig(2, kinds_of({"tcp"}));
  Traffic traffic(rig);
  run(rig, traffic, 5);
  hold_all(rig, traffic);
  restore(*rig.engines[0]);
  rig.engines[0]->end_hold(kHold);
  // It dials: that is answered, and leads nowhere.
  for (int i = 0; i < 2000; ++i) {
    traffic.step();
    for (auto& engine : rig.engines) {
      engine->progress();
      engine->wait(0);
    }
  }
  CHECK(rig.engines[1]->hold_report().state == HoldState::kParked);
  restore(*rig.engines[1]);
  rig.engines[1]->end_hold(kHold);
  run(rig, traffic, 20);
}

TEST_CASE("a restore that does not fit is refused") {
  Rig rig(2, kinds_of({"tcp"}));
  Traffic traffic(rig);
  run(rig, traffic, 5);
  core::EngineCore& engine = *rig.engines[0];
  CHECK(engine.status().incarnation == Incarnation{});
  CHECK(engine.restore({kHold, 0}, kNext).refusal.find("not restored") != std::string::npos);
  hold_all(rig, traffic);
  CHECK(engine.restore({kHold + 1, 0}, kNext).refusal.find("0x6") != std::string::npos);
  CHECK(engine.restore({kHold, 0}, Incarnation{1}).refusal.find("incarnation") !=
        std::string::npos);
  CHECK(engine.status().incarnation == Incarnation{1});  // since it was held
}

TEST_CASE(
    "a hold that a restore claims is ended for nobody before all are raised, but by its lease") {
  Rig rig(2, kinds_of({"tcp"}));
  Traffic traffic(rig);
  run(rig, traffic, 5);
  CHECK(rig.engines[0]->claim_hold({kHold, 0}, kLong).refusal != "");
  hold_all(rig, traffic);
  CHECK(rig.engines[0]->claim_hold({kHold + 1, 0}, kLong).refusal.find("0x6") != std::string::npos);
  for (auto& engine : rig.engines) {
    CHECK(engine->claim_hold({kHold, 0}, kLong).claimed);
    CHECK(engine->end_hold(kHold).refusal.find("job restored") != std::string::npos);
    CHECK(engine->hold_report().state == HoldState::kParked);
  }
  restore(*rig.engines[0]);
  CHECK_FALSE(rig.engines[0]->claim_hold({kHold, 0}, kLong).claimed);  // late
  CHECK(rig.engines[0]->end_hold(kHold).refusal == "");
  REQUIRE(rig.engines[1]->claim_hold({kHold, 0}, kMillisecond).claimed);
  rig.until([&] { return rig.engines[1]->hold_report().state != HoldState::kParked; });
  CHECK_FALSE(rig.engines[1]->hold_report().claimed);
}

TEST_CASE("of two restores at the same time the one that has claimed last goes on") {
  Rig rig(2, kinds_of({"tcp"}));
  Traffic traffic(rig);
  run(rig, traffic, 5);
  hold_all(rig, traffic);
  core::EngineCore& engine = *rig.engines[0];
  CHECK(engine.claim_hold({kHold, 7}, kLong).claim == 7);
  CHECK(engine.claim_hold({kHold, 7}, kLong).refusal == "");  // once more
  CHECK(engine.claim_hold({kHold, 9}, kLong).claim == 9);
  CHECK(engine.claim_hold({kHold, 7}, kLong).refusal.find("claimed it since") != std::string::npos);
  CHECK(engine.restore({kHold, 7}, kNext).refusal.find("claimed it since") != std::string::npos);
  CHECK(engine.status().incarnation == Incarnation{1});
  CHECK(engine.restore({kHold, 9}, kNext).refusal == "");
  CHECK(engine.restore({kHold, 7}, kNext).refusal == "");  // so it is
  const auto above = Incarnation{static_cast<std::uint32_t>(kNext) + 1};
  CHECK(engine.restore({kHold, 10}, above).refusal.find("raised to") != std::string::npos);
  CHECK(engine.status().incarnation == kNext);
}

TEST_CASE("a process that was set back alone and its former peers lose each other and say so") {
  for (const std::size_t dialler : {0U, 1U}) {
    CAPTURE(dialler);
    Rig rig(2, kinds_of({"tcp"}));
    {
      Traffic traffic(rig);
      run(rig, traffic, 5);
    }
    rig.set_back(0, kinds_of({"tcp"}));
    rig.open_ports();
    const std::uint32_t word = 7;
    const Slice slice{&word, sizeof word};
    Watched send;
    REQUIRE(rig.ports[dialler]->send({.to = rig.to(dialler, 1 - dialler), .slices = {&slice, 1}},
                                     send) == Accept::kAccepted);
    rig.until([&] {
      for (const ProcessId sought : rig.engines[1]->unreached())
        rig.engines[1]->introduce(sought, rig.engines[0]->contacts());
      return lost_peers(*rig.engines[0]) == 1 && lost_peers(*rig.engines[1]) == 1;
    });
    rig.ports.clear();
  }
}
