// SPDX-License-Identifier: BSD-3-Clause
// What a switch puts on the wires for a pair with nothing to say: each extra frame wakes a process
// that would sleep.
#include "tests/unit/core/engine/ladder.h"
#include "tests/unit/core/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;
using core::FrameKind;

namespace {

// After an absence that did not need the agent, the next ones are unattended for three seconds
// (presence.h).
constexpr TimeNs kUntilAttended = 4 * kSecond;

/// One message each way, until nothing is owed any more.
void talk(Rig& rig, std::size_t one, std::size_t other) {
  for (const auto& [from, to] : {std::pair(one, other), std::pair(other, one)}) {
    Watched send, receive;
    REQUIRE(rig.ports[to]->receive({.ignore = ~Tag{0}}, receive) == Accept::kAccepted);
    REQUIRE(rig.ports[from]->send({.to = rig.to(from, to)}, send) == Accept::kAccepted);
    rig.until([&] { return send.done_count + receive.done_count == 2; });
  }
  rig.pass_away(kUntilAttended);  // the last acknowledgement
}

std::uint64_t posted(Taps& taps, FrameKind kind) {
  std::uint64_t count = 0;
  for (auto& [rank, tap] : taps) count += tap.posted[kind];
  return count;
}

core::Routing moved(const std::string& from, const std::string& to) {
  core::Routing routing = prefer(from);
  routing.moved[from] = to;
  return routing;
}

}  // namespace

TEST_CASE(
    "a switch of an idle pair is a handshake, two markers and their answers, and nothing else") {
  Taps alpha, beta;
  Rig rig(2, {kind("self"), tapped("alpha", alpha), tapped("beta", beta)}, 1, {}, 1,
          prefer("beta"));
  talk(rig, 0, 1);
  Ladder ladder{rig, [] {}, prefer("beta")};
  for (Taps* taps : {&alpha, &beta})
    for (auto& [rank, tap] : *taps) tap.posted.clear();

  ladder.go(moved("beta", "alpha"));
  rig.pass_away(kSecond);
  CHECK(used(rig, 0, 1) == "alpha");
  CHECK(posted(alpha, FrameKind::kHello) == 4);
  CHECK(posted(beta, FrameKind::kMarker) == 2);
  CHECK(posted(beta, FrameKind::kMarkerAck) == 2);
  for (const FrameKind needless : {FrameKind::kAddresses, FrameKind::kAck, FrameKind::kProbe})
    CHECK(posted(alpha, needless) + posted(beta, needless) == 0);
}

TEST_CASE(
    "addresses are told again where a transport was opened, though it listens where it did "
    "before") {
  Taps alpha, beta;
  Rig rig(2, {kind("self"), tapped("alpha", alpha), tapped("beta", beta)}, 1, {}, 1,
          prefer("beta"));
  talk(rig, 0, 1);
  core::Routing without = prefer("beta");
  without.excluded = {"alpha"};
  Ladder ladder{rig, [] {}, prefer("beta")};
  for (int round = 0; round < 2; ++round) {
    ladder.go(without);
    const std::uint64_t before = posted(beta, FrameKind::kAddresses);
    ladder.go(prefer("beta"));
    CHECK(posted(beta, FrameKind::kAddresses) == before + 2);
  }
}

TEST_CASE(
    "in mid-ladder no agent wakes for a copy of its page alone; soon after its end one does") {
  Taps alpha, beta;
  Rig rig(2, {kind("self"), tapped("alpha", alpha), tapped("beta", beta)}, 1, {}, 1,
          prefer("beta"));
  auto latch = std::make_unique<core::EnginePageLatch>();
  rig.engines[0]->show_on(latch.get());
  talk(rig, 0, 1);
  Ladder ladder{rig, [] {}, prefer("beta"), 1, 1};
  for (const std::size_t rank : {0U, 1U})
    ladder.order(rank, core::Rung::kJoint, moved("beta", "alpha"));
  const std::int64_t sleep = rig.pass_away(5 * kMillisecond);
  REQUIRE(rig.engines[0]->report().reached);
  CHECK((sleep < 0 || sleep > 50 * kMillisecond));
  for (const core::Rung rung : {core::Rung::kNewTx, core::Rung::kNew})
    ladder.climb_to(rung, moved("beta", "alpha"));
  const std::uint64_t copies = latch->sequence.load();
  rig.pass_away(20 * kMillisecond);
  CHECK(latch->sequence.load() > copies);
}
