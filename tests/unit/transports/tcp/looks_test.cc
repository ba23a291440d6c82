// SPDX-License-Identifier: BSD-3-Clause
// How often the engine is to look for frames: a look costs system calls.
#include "tests/unit/transports/tcp/subject.h"

using namespace livebtl;
using namespace livebtl::tcp;

namespace {

constexpr TimeNs kStart = 10 * kSecond;

/// Rounds until one is due, all at one time.
unsigned rounds_until_due(core::Transport& transport, TimeNs now, bool beside_traffic) {
  for (unsigned round = 1; round < 100'000; ++round) {
    if (transport.looked_at_seldom()->due(now, beside_traffic)) return round;
  }
  FAIL("no round is ever due");
  return 0;
}

}  // namespace

TEST_CASE("a quiet tcp is looked at by rounds and by time, and more seldom beside traffic") {
  Settings settings;
  settings.tcp_if = {"127.0.0.1"};
  auto made = kit::make_transport(settings, 1, 1);
  REQUIRE(made);
  core::Transport& tcp = **made;
  CHECK(rounds_until_due(tcp, kStart, true) == 1);  // it has never been looked at
  const unsigned alone = rounds_until_due(tcp, kStart, false);
  const unsigned beside = rounds_until_due(tcp, kStart, true);
  CHECK(alone > 1);
  CHECK(beside > 10 * alone);
  CHECK_FALSE(tcp.looked_at_seldom()->due(kStart + 10 * kMicrosecond, true));
  CHECK(tcp.looked_at_seldom()->due(kStart + 10 * kMicrosecond, false));
  CHECK(tcp.looked_at_seldom()->due(kStart + 100 * kMicrosecond, true));
}

TEST_CASE("a tcp by which frames come is looked at in every round for a while") {
  const conformance::Subject subject = kit::two_nodes();
  conformance::Rig rig(subject);
  const conformance::Link link = rig.link();
  REQUIRE(conformance::transfer(rig, *link.a, *link.b, {{.seed = 1, .payload_bytes = 100}}));
  const TimeNs now = monotonic_now();
  for (int round = 0; round < 5; ++round)
    CHECK(rounds_until_due(*rig.b().transport, now, true) == 1);
  CHECK(rounds_until_due(*rig.b().transport, now + kSecond, true) == 1);
  CHECK(rounds_until_due(*rig.b().transport, now + kSecond, true) > 1);
}
