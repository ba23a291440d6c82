// SPDX-License-Identifier: BSD-3-Clause
// How often a transport whose poll costs system calls is polled, and that tcp is one.
#include "tests/unit/transports/tcp/subject.h"

using namespace livebtl;
using namespace livebtl::tcp;
using core::Pace;

namespace {

constexpr TimeNs kStart = 10 * kSecond;

/// Rounds until one is due, with time standing still.
unsigned rounds_until_due(Pace& pace, TimeNs now, bool beside_traffic) {
  for (unsigned round = 1; round <= 2 * Pace::kSkippedBesideTrafficMax; ++round) {
    if (pace.due(now, beside_traffic)) return round;
  }
  FAIL("no round is ever due");
  return 0;
}

}  // namespace

TEST_CASE("a pace counts rounds where no time passes, and more of them beside traffic") {
  Pace pace;
  CHECK(pace.due(kStart, true));  // never polled before
  CHECK(rounds_until_due(pace, kStart, false) == Pace::kSkippedAloneMax);
  pace.polled(kStart, 0, false);
  CHECK(rounds_until_due(pace, kStart, false) == Pace::kSkippedMax);
  CHECK(rounds_until_due(pace, kStart, true) == Pace::kSkippedBesideTrafficMax);
}

TEST_CASE("... and time, of which it lets more pass beside traffic") {
  Pace pace;
  CHECK(pace.due(kStart, false));
  CHECK_FALSE(pace.due(kStart + Pace::kEveryNs, true));
  CHECK(pace.due(kStart + Pace::kEveryNs, false));
  CHECK(pace.due(kStart + Pace::kEveryNs + Pace::kBesideTrafficEveryNs, true));
}

TEST_CASE(
    "for a while after a frame every round is due, and the next one where work does not wait") {
  Pace pace;
  REQUIRE(pace.due(kStart, true));
  pace.polled(kStart, 1, false);
  for (int round = 0; round < 5; ++round) CHECK(pace.due(kStart + Pace::kBusyNs - 1, true));
  CHECK(rounds_until_due(pace, kStart + Pace::kBusyNs, true) == 1);
  CHECK_FALSE(pace.due(kStart + Pace::kBusyNs, true));
  pace.hurry();
  CHECK(pace.due(kStart + Pace::kBusyNs, true));
}

TEST_CASE("tcp tells its pace of the frames that came") {
  const conformance::Subject subject = kit::two_nodes();
  conformance::Rig rig(subject);
  const conformance::Link link = rig.link();
  Pace* const pace = rig.b().transport->pace();
  REQUIRE(pace != nullptr);
  REQUIRE(conformance::transfer(rig, *link.a, *link.b, {{.seed = 1, .payload_bytes = 100}}));
  const TimeNs now = monotonic_now();
  CHECK(rounds_until_due(*pace, now, true) == 1);
  CHECK(rounds_until_due(*pace, now, true) == 1);
}
