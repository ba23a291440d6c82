// SPDX-License-Identifier: BSD-3-Clause
// Pairs with two transports that can lose frames: an idle path is left in peace, a probe is
// answered on the path that it probes, and a dead path is found.
#include "tests/unit/core/engine/large.h"
#include "tests/unit/core/engine/tapped.h"
#include "tests/unit/core/engine/traffic.h"

using namespace livebtl;
using namespace livebtl::test;
using core::FrameKind;

namespace {

Settings patient() {
  Settings settings;
  settings.probe_ms = 50;
  return settings;
}

/// Two ranks with both paths. Both ends send their messages by alpha, or both by beta.
class Pair {
 public:
  Pair() : rig(2, {kind("self"), tapped("alpha", alpha), tapped("beta", beta)}, 1, patient()) {
    run(rig, traffic, 5);
    rig.until([&] {
      traffic.step();
      return rig.engines[0]->status().peers.at(0).bulk.size() == 2 &&
             rig.engines[1]->status().peers.at(0).bulk.size() == 2;
    });
    run(rig, traffic, 5);
    const std::string used = rig.engines[0]->status().peers.at(0).transport;
    REQUIRE(rig.engines[1]->status().peers.at(0).transport == used);
    idle_is_beta = used == "alpha";
  }
  Taps& used() { return idle_is_beta ? alpha : beta; }
  Taps& idle() { return idle_is_beta ? beta : alpha; }
  std::uint64_t lost_of(const Taps& taps) { return lost(rig, &taps == &alpha ? "alpha" : "beta"); }
  /// A message each way in every millisecond that passes.
  void talk_for(TimeNs time) {
    for (TimeNs passed = 0; passed < time; passed += kMillisecond) {
      run(rig, traffic, 1);
      rig.pass(kMillisecond);
    }
  }

  Taps alpha, beta;
  Rig rig;
  Traffic traffic{rig, Traffic::Sizes::kEager};
  bool idle_is_beta = true;
};

}  // namespace

TEST_CASE("a path on which nothing is waited for is not probed, and not lost") {
  Pair pair;
  const std::uint64_t before = pair.idle()[0].posted[FrameKind::kProbe];
  pair.talk_for(3 * kSecond);
  CHECK(pair.lost_of(pair.alpha) == 0);
  CHECK(pair.lost_of(pair.beta) == 0);
  CHECK(pair.idle()[0].posted[FrameKind::kProbe] == before);
}

TEST_CASE("a probe is answered on the path that was probed") {
  Pair pair;
  pair.idle()[1].deaf = true;  // holds back the large message, and what ends it
  Large large(pair.rig);
  pair.rig.until([&] { return pair.idle()[0].posted[FrameKind::kData] != 0; });
  const std::uint64_t answers = pair.idle()[1].posted[FrameKind::kAck];
  pair.rig.until([&] {
    pair.talk_for(kMillisecond);
    return pair.idle()[0].posted[FrameKind::kProbe] != 0;
  });
  pair.idle()[1].deaf = false;
  pair.rig.until(
      [&] { return large.arrived() && pair.idle()[1].posted[FrameKind::kAck] > answers; });
  CHECK(large.is_whole());
  pair.talk_for(200 * kMillisecond);
  CHECK(pair.idle()[1].posted[FrameKind::kAck] == answers + 1);
  CHECK(pair.lost_of(pair.idle()) == 0);
}

TEST_CASE("a path that swallows data of a large message is found, whatever comes by another one") {
  Pair pair;
  pair.idle()[0].mute = pair.idle()[1].mute = true;
  Large large(pair.rig);
  pair.rig.until([&] {
    pair.talk_for(kMillisecond);
    return large.arrived();
  });
  CHECK(large.is_whole());
  CHECK(pair.lost_of(pair.idle()) != 0);
  CHECK(pair.lost_of(pair.used()) == 0);
}

TEST_CASE("a path that swallows messages is found while nothing else is sent") {
  Pair pair;
  pair.used()[0].mute = pair.used()[1].mute = true;
  const std::uint64_t before = pair.traffic.received(0);
  pair.rig.until([&] {
    pair.traffic.step();
    pair.rig.pass(kMillisecond);
    return pair.traffic.received(0) > before + 2 && pair.traffic.received(1) > before + 2;
  });
  CHECK(pair.lost_of(pair.used()) != 0);
  CHECK(pair.lost_of(pair.idle()) == 0);
}

namespace {

/// One message from rank 0, which has since probed its path; the peer has answered, but nobody
/// reads that.
struct Probed {
  Probed() {
    run(rig, traffic, 2);
    taps[1].deaf = true;
    traffic.step();
    while (taps[0].posted[FrameKind::kProbe] == 0) look(10 * kMillisecond);
    taps[1].deaf = false;
    taps[0].deaf = true;
    for (int i = 0; i < 100; ++i) rig.engines[1]->progress();
    taps[0].deaf = false;
  }
  /// Rank 0 alone polls, after that time.
  void look(TimeNs later) {
    rig.let(later);
    rig.engines[0]->wait(0);
    rig.engines[0]->progress();
  }
  Taps taps;
  Rig rig{2, {kind("self"), tapped("tcp", taps)}};
  Traffic traffic{rig, Traffic::Sizes::kEager};
};

}  // namespace

TEST_CASE("a process that was stopped reads the answer to its probe before it gives the path up") {
  Probed probed;
  probed.look(5 * kSecond);
  probed.look(kMillisecond);
  CHECK(lost(probed.rig, "tcp") == 0);
  run(probed.rig, probed.traffic, 2);
  CHECK(lost(probed.rig, "tcp") == 0);
}

TEST_CASE("who looks seldom finds out, too, that nobody answers") {
  Probed probed;
  probed.taps[0].deaf = true;
  for (int i = 0; i < 4; ++i) probed.look(1500 * kMillisecond);
  CHECK(lost(probed.rig, "tcp") == 1);
}

namespace {

/// 96 MiB, six times what may wait in a queue, from rank 0 to rank 1, over a path that takes none
/// of it at first and returns nothing.
struct SlowPath {
  static constexpr std::size_t kBytes = 96u << 20;
  static constexpr std::uint64_t kFrames = kBytes / (256u << 10);
  SlowPath() {
    const MutableSlice into{taken.data(), kBytes};
    REQUIRE(rig.ports[1]->receive({.slices = {&into, 1}}, received) == Accept::kAccepted);
    const Slice from{data.data(), kBytes};
    REQUIRE(rig.ports[0]->send({.to = rig.to(0, 1), .slices = {&from, 1}}, sent) ==
            Accept::kAccepted);
    rig.until([&] { return posted() > 2; });  // requested, not only ahead of the request
    taps[1].mute = taps[1].deaf = true;
    for (int i = 0; i < 1000; ++i) rig.engines[0]->progress();
  }
  ~SlowPath() { rig.ports.clear(); }
  std::uint64_t posted() { return taps[0].posted[FrameKind::kData]; }

  std::vector<std::byte> data = pattern(kBytes, 3), taken = std::vector<std::byte>(kBytes);
  Watched sent, received;
  Taps taps;
  Rig rig{2, {kind("self"), tapped("tcp", taps)}};
};

}  // namespace

TEST_CASE("a slow path that takes data of a large message is not lost, though nothing comes back") {
  SlowPath slow;
  REQUIRE(slow.posted() < SlowPath::kFrames);  // the path does not hold all of it at once
  slow.taps[1].deaf = false;
  slow.taps[1].frames_max = 1;
  TimeNs passed = 0;
  for (; slow.posted() < SlowPath::kFrames; passed += 100 * kMillisecond) {
    slow.rig.let(100 * kMillisecond);
    for (auto& engine : slow.rig.engines) engine->progress();
    slow.rig.engines[0]->wait(0);
    REQUIRE(lost(slow.rig, "tcp") == 0);
  }
  CHECK(passed > 4500 * kMillisecond);  // a silent path would be given up by then
}
