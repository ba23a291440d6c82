// SPDX-License-Identifier: BSD-3-Clause
// When the agent takes the application to be away: a thread's word that it leaves outlasts what
// another thread does, and a timer that was heeded stops ringing.
#include "core/engine/presence.h"

#include <doctest/doctest.h>
#include <poll.h>

#include "core/engine/context.h"

using namespace livebtl;
using core::Presence;

namespace {

constexpr TimeNs kAway = kMillisecond;
constexpr TimeNs kStart = 100 * kSecond;

bool rings(const Presence& presence, int timeout_ms) {
  pollfd polled{presence.fd(), POLLIN, 0};
  return ::poll(&polled, 1, timeout_ms) == 1;
}

}  // namespace

TEST_CASE("who has left is away, though the agent finds the application inside for a moment") {
  Presence presence(kAway, true);
  presence.here(kStart);
  presence.leave(kStart + 1);
  presence.busy(kStart + 2, false);
  CHECK(presence.away(kStart + 3));
  CHECK(rings(presence, 10'000));
}

TEST_CASE(
    "a false alarm is followed by three seconds without one, and by 50 ms once a thread has left") {
  Presence presence(kAway, true);
  presence.here(kStart);
  presence.busy(kStart + kSecond, false);
  CHECK(!presence.away(kStart + 3 * kSecond));
  presence.leave(kStart + 10 * kSecond);
  presence.attend(kStart + 10 * kSecond, false, false);
  presence.returned(kStart + 10 * kSecond + 1);
  CHECK(!presence.away(kStart + 10 * kSecond + 2));
  CHECK(presence.away(kStart + 10 * kSecond + 60 * kMillisecond));
}

TEST_CASE("an absence that is attended to before the timer runs out is not told of again") {
  Presence presence(kAway, true);
  presence.here(kStart);
  presence.attend(kStart + 2 * kAway, false, false);
  CHECK(!rings(presence, 20));  // ten times as long
}

TEST_CASE("deaths are kept however much else happens") {
  core::EventQueue events;
  const auto push = [&](EngineEvent::Kind kind) { events.push({kind, {}, "tcp"}); };
  push(EngineEvent::Kind::kSwitched);
  push(EngineEvent::Kind::kPeerLost);
  for (int i = 0; i < 1000; ++i) push(EngineEvent::Kind::kPathLost);
  const auto kept = events.take();
  CHECK(kept.size() == 257);
  CHECK(kept.front().kind == EngineEvent::Kind::kPeerLost);
  CHECK(kept.back().kind == EngineEvent::Kind::kPathLost);
  CHECK(events.empty());
}
