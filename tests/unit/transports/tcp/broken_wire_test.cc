// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/tcp/broken_wire_test.cc -- connections with altered bytes, cut under load,
// or killed by the kernel: nothing wrong is delivered, and each side is told exactly once.
#include <doctest/doctest.h>

#include <cstdlib>

#include "base/log.h"
#include "tests/unit/transports/tcp/relay.h"
#include "tests/unit/transports/tcp/subject.h"

namespace livebtl::tcp {
namespace {

using conformance::End;
using conformance::Link;
using conformance::pattern;
using conformance::Rig;
using core::Post;

constexpr std::size_t kFrameBytes = sizeof(Prelude) + 24 + 40;

/// Frame number `i` of a stream: header and payload depend on i.
Post post_numbered(End& end, std::size_t i) { return end.post_pattern(i * 10, 24, 40); }

void check_prefix(const End& end) {
  for (std::size_t i = 0; i < end.received.size(); ++i) {
    REQUIRE(end.received[i].header == pattern(i * 10, 24));
    REQUIRE(end.received[i].payload == pattern(i * 10 + 1, 40));
  }
}

/// Two ends that talk through a relay.
struct Relayed {
  explicit Relayed(Rig& on) : rig(on), relay(kit::where(rig.b())) {}

  void dial() {
    auto dialled = rig.a().transport->connect(relay.contact());
    REQUIRE(dialled.has_value());
    a.take(std::move(*dialled));
  }
  void turn() {
    relay.turn();
    kit::take_accepted(rig.b(), b);
  }
  template <class Condition>
  bool until(Condition condition) {
    return kit::until(
        rig, [&] { turn(); }, condition);
  }

  Rig& rig;
  kit::Relay relay;
  End a;
  End b;
};

/// Alters one bit of byte `at` sent by the dialler (direction 0) or the acceptor (1).
void alter_one_byte(Rig& rig, int direction, std::size_t at) {
  Relayed pair(rig);
  pair.relay.alter = [&](int way, std::size_t position, std::byte& byte) {
    if (way == direction && position == at) byte ^= std::byte{1} << (at % 8);
  };
  pair.dial();
  const bool in_node = at >= 8 && at < kPreambleBytes;  // says only if checksums are wanted
  std::size_t from_a = 0;
  std::size_t from_b = 0;
  const bool ended = pair.until([&] {
    // A length that grew is noticed once enough has followed: both keep talking.
    if (post_numbered(pair.a, from_a) != Post::kRetry) ++from_a;
    if (pair.b.open() && post_numbered(pair.b, from_b) != Post::kRetry) ++from_b;
    return in_node ? pair.b.frames > 3 && pair.a.frames > 3 : !pair.a.downs.empty();
  });
  REQUIRE(ended);
  if (in_node) return;
  REQUIRE(pair.until([&] { return !pair.b.open() || !pair.b.downs.empty(); }));
  End& finder = direction == 0 ? pair.b : pair.a;
  check_prefix(pair.a);
  check_prefix(pair.b);
  if (at < kPreambleBytes) {
    CHECK(pair.a.downs[0].code == Errc::kUnreachable);
    CHECK(pair.b.frames == 0);
    return;
  }
  REQUIRE(finder.downs.size() == 1);
  CHECK(finder.downs[0].code == Errc::kCorrupt);
  CHECK(finder.frames == (at - kPreambleBytes) / kFrameBytes);
}

TEST_CASE("a byte altered anywhere ends the connection before its frame is delivered") {
  const auto subject = kit::two_nodes();
  Rig rig(subject);
  set_log_level(LogLevel::kError);
  for (int direction = 0; direction < 2; ++direction) {
    for (std::size_t at = 0; at < kPreambleBytes + 2 * kFrameBytes; ++at) {
      INFO("direction " << direction << ", byte " << at);
      alter_one_byte(rig, direction, at);
    }
  }
  set_log_level(LogLevel::kWarn);
}

TEST_CASE("a byte altered in a placed payload is found before on_frame") {
  const auto subject = kit::two_nodes(CrcMode::kAlways);
  Rig rig(subject);
  Relayed pair(rig);
  pair.relay.alter = [](int way, std::size_t position, std::byte& byte) {
    if (way == 0 && position == 150'000) byte ^= std::byte{4};
  };
  Blob place(kPayloadBytesMax);
  std::size_t asked = 0;
  pair.b.place = [&](Bytes, std::size_t) {
    ++asked;
    return MutableBytes(place);
  };
  pair.dial();
  bool posted = false;
  REQUIRE(pair.until([&] {
    if (pair.b.open()) pair.b.endpoint().trust();
    if (!posted && pair.b.open()) posted = pair.a.post_pattern(1, 24, 200'000) != Post::kRetry;
    return !pair.b.downs.empty();
  }));
  CHECK(pair.b.downs[0].code == Errc::kCorrupt);
  CHECK(asked == 1);
  CHECK(pair.b.frames == 0);
}

TEST_CASE("without payload checksums altered payload passes: the setting does what it says") {
  const auto subject = kit::two_nodes(CrcMode::kNever);
  Rig rig(subject);
  Relayed pair(rig);
  pair.relay.alter = [](int way, std::size_t position, std::byte& byte) {
    if (way == 0 && position == kPreambleBytes + kFrameBytes - 1) byte ^= std::byte{1};
  };
  pair.dial();
  bool posted = false;
  REQUIRE(pair.until([&] {
    if (!posted) posted = post_numbered(pair.a, 0) != Post::kRetry;
    return pair.b.frames == 1;
  }));
  CHECK(pair.b.received[0].payload != pattern(1, 40));
}

/// Posts in both directions until `stop` says so; then waits until both have noticed the loss.
template <class Stop>
void flood_until_lost(Relayed& pair, Stop stop) {
  std::size_t from_a = 0;
  std::size_t from_b = 0;
  REQUIRE(pair.until([&] {
    for (int i = 0; i < 100; ++i) {
      if (post_numbered(pair.a, from_a) != Post::kRetry) ++from_a;
      if (pair.b.open() && post_numbered(pair.b, from_b) != Post::kRetry) ++from_b;
    }
    return pair.b.frames > 2000 && pair.a.frames > 2000;
  }));
  stop();
  REQUIRE(pair.until([&] { return !pair.a.downs.empty() && !pair.b.downs.empty(); }));
  pair.rig.settle();
  for (const End* end : {&pair.a, &pair.b}) {
    CHECK(end->downs.size() == 1);
    CHECK(end->downs[0].code == Errc::kDown);
    check_prefix(*end);
  }
  CHECK(pair.b.frames <= from_a);
  CHECK(pair.a.frames <= from_b);
  CHECK(post_numbered(pair.a, 0) == Post::kRetry);
  CHECK(pair.a.endpoint().in_flight() == 0);
}

TEST_CASE("a connection cut under load is told exactly once on both sides, and can be replaced") {
  const auto subject = kit::two_nodes();
  Rig rig(subject);
  for (int round = 0; round < 5; ++round) {
    Relayed pair(rig);
    pair.dial();
    flood_until_lost(pair, [&] { pair.relay.cut(); });
  }
  Link link = rig.link();
  CHECK(conformance::transfer(rig, *link.a, *link.b, {{1, 8, 8}}));
}

/// Has the kernel kill connections of one of our own ports. false: not permitted here.
bool kill_connections(const SocketAddress& at) {
  const std::string port = std::to_string(at.port);
  const std::string command =
      "ss -HK -t dst 127.0.0.1 dport = :" + port + " 2>/dev/null | grep -q :" + port;
  return std::system(command.c_str()) == 0;
}

TEST_CASE("a connection killed by the kernel is told exactly once on both sides") {
  const auto subject = kit::two_nodes();
  Rig rig(subject);
  Relayed pair(rig);
  pair.dial();
  REQUIRE(pair.until([&] { return pair.b.open(); }));
  Link link = rig.link();
  bool killed = false;
  REQUIRE(conformance::transfer(rig, *link.a, *link.b,
                                std::vector<conformance::Expected>(500, {1, 24, 40})));
  killed = kill_connections(kit::where(rig.b()));
  if (!killed) {
    MESSAGE(
        "not run: 'ss -K' is not possible here (it needs root and a kernel with "
        "INET_DIAG_DESTROY)");
    return;
  }
  REQUIRE(rig.until([&] { return !link.a->downs.empty() && !link.b->downs.empty(); }));
  rig.settle();
  CHECK(link.a->downs.size() == 1);
  CHECK(link.b->downs.size() == 1);
  Link again = rig.link();
  CHECK(conformance::transfer(rig, *again.a, *again.b, {{1, 8, 8}}));
}

}  // namespace
}  // namespace livebtl::tcp
