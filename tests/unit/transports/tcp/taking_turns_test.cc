// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/tcp/taking_turns_test.cc -- connections that together have more frames than
// a turn may deliver.
#include <doctest/doctest.h>

#include "base/clock.h"
#include "tests/unit/transports/tcp/relay.h"
#include "tests/unit/transports/tcp/subject.h"

namespace livebtl::tcp {
namespace {

using conformance::End;
using conformance::Rig;
using core::Post;

/// A connection from A to B, by which one frame has come.
struct Connection {
  explicit Connection(Rig& rig) {
    auto dialled = rig.a().transport->connect(rig.b().transport->address());
    REQUIRE(dialled.has_value());
    a.take(std::move(*dialled));
    bool sent = false;
    REQUIRE(rig.until([&] {
      if (!sent) sent = a.post_pattern(1, 8, 8) != Post::kRetry;
      kit::take_accepted(rig.b(), b);
      return b.frames == 1 && a.endpoint().in_flight() == 0;
    }));
  }
  void send(int frames) {
    for (int i = 0; i < frames; ++i) REQUIRE(a.post_pattern(2, 8, 8) == Post::kDone);
  }
  End a, b;
};

TEST_CASE("with one frame a turn, each connection has its share") {
  const auto subject = kit::two_nodes();
  Rig rig(subject);
  Connection one(rig), other(rig);
  one.send(100);
  other.send(100);
  for (int turn = 0; turn < 60; ++turn) rig.b().turn(1);
  CHECK(one.b.frames > 20);
  CHECK(other.b.frames > 20);
}

TEST_CASE("a peer that has sent and left is heard out, though others use up each turn") {
  const auto subject = kit::two_nodes();
  Rig rig(subject);
  Connection talker(rig), leaver(rig);
  talker.send(500);
  leaver.send(3);
  leaver.a.close();
  rig.b().turn(1);  // from now on the talker is the first to be served
  const TimeNs deadline = monotonic_now() + 60 * kSecond;
  while (leaver.b.post_pattern(3, 8, 8) != Post::kRetry) REQUIRE(monotonic_now() < deadline);
  for (int turn = 0; turn < 600 && leaver.b.downs.empty(); ++turn) rig.b().turn(1);
  CHECK(leaver.b.downs.size() == 1);
  CHECK(leaver.b.frames == 1 + 3);
}

}  // namespace
}  // namespace livebtl::tcp
