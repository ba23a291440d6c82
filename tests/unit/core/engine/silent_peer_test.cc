// SPDX-License-Identifier: BSD-3-Clause
// Peers that have fallen silent: whoever waits for one finds out whether it is there. Time is the
// test's own.
#include "tests/unit/core/engine/one_byte.h"
#include "tests/unit/core/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

/// How long a path on which nothing comes stays, at most `most`; only rank 0 gets turns.
TimeNs kept_for(Rig& rig, Taps& taps, TimeNs most) {
  TimeNs passed = 0;
  while (!taps[0].sinks.empty() && passed < most) {
    const std::int64_t asked = Rig::sleep_of(*rig.engines[0]);
    const std::int64_t sleep = asked < 0 ? kSecond : std::clamp(asked, kMillisecond, kSecond);
    rig.let(sleep);
    passed += sleep;
  }
  return passed;
}

}  // namespace

TEST_CASE("who waits for a message of a silent peer finds out, in time, whether it is there") {
  Taps taps;
  Rig rig(2, {kind("self"), tapped("tcp", taps)});
  const Sent first(rig);
  rig.until([&] { return first.received.done_count == 1; });
  rig.pass_away(10 * kSecond);
  Watched waits;
  SUBCASE("by a receive from it") {
    REQUIRE(rig.ports[0]->receive({.tag = 7, .from = rig.to(0, 1)}, waits) == Accept::kAccepted);
    const TimeNs passed = kept_for(rig, taps, 100 * kSecond);
    CHECK(passed > 4 * kSecond);  // it is asked seldom
    CHECK(passed < 70 * kSecond);
  }
  SUBCASE("but not by one from anybody: no end of one peer would end that") {
    REQUIRE(rig.ports[0]->receive({.tag = 7}, waits) == Accept::kAccepted);
    CHECK(kept_for(rig, taps, 200 * kSecond) >= 200 * kSecond);
  }
  rig.ports.clear();
}

TEST_CASE("so does who waits for the end of a large message, whichever end it has") {
  Taps taps;
  Rig rig(2, {kind("self"), tapped("tcp", taps)});
  const Sent first(rig);
  rig.until([&] { return first.received.done_count == 1; });
  constexpr std::size_t kBytes = 1 << 20;
  std::vector<std::byte> out(kBytes), in(kBytes);
  const Slice from{out.data(), kBytes};
  const MutableSlice to{in.data(), kBytes};
  Watched waits, other;
  SUBCASE("the sender, of a message that nobody has received yet") {
    REQUIRE(rig.ports[0]->send({.to = rig.to(0, 1), .slices = {&from, 1}}, waits) ==
            Accept::kAccepted);
    rig.pass_away(10 * kSecond);
    REQUIRE(waits.done_count == 0);
  }
  SUBCASE("the receiver, that has asked for it") {
    taps[1].no_data = true;
    REQUIRE(rig.ports[0]->receive({.slices = {&to, 1}}, waits) == Accept::kAccepted);
    REQUIRE(rig.ports[1]->send({.to = rig.to(1, 0), .slices = {&from, 1}}, other) ==
            Accept::kAccepted);
    rig.until([&] { return taps[0].posted[core::FrameKind::kCts] == 1; });
    rig.pass(kMillisecond);
    REQUIRE(waits.done_count == 0);
  }
  const TimeNs passed = kept_for(rig, taps, 100 * kSecond);
  CHECK(passed > 4 * kSecond);
  CHECK(passed < 70 * kSecond);
  rig.ports.clear();
}
