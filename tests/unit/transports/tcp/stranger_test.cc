// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/tcp/stranger_test.cc -- connections that no peer makes: rubbish, silence,
// scans and crowds do no harm.
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/resource.h>

#include <filesystem>

#include "tests/unit/transports/tcp/frame_kit.h"
#include "tests/unit/transports/tcp/relay.h"
#include "tests/unit/transports/tcp/subject.h"
#include "transports/tcp/tcp_dialler.h"

namespace livebtl::tcp {
namespace {

using conformance::End;
using conformance::Link;
using conformance::Rig;
using core::Post;
using kit::Stranger;

/// A peer whose link must keep working whatever a stranger does.
struct Victim {
  Victim() : rig(subject), link(rig.link()) {}
  void check_unhurt() {
    CHECK(conformance::transfer(rig, *link.a, *link.b, {{1, 24, 500}}));
    CHECK(conformance::transfer(rig, *link.b, *link.a, {{2, 24, 500}}));
    CHECK(link.a->downs.empty());
    CHECK(link.b->downs.empty());
  }
  SocketAddress door() { return kit::where(rig.b()); }
  /// Moves the door's side as if that much time had passed.
  void turn_later(TimeNs later) {
    for (int i = 0; i < 100; ++i) rig.b().transport->progress(rig.b(), monotonic_now() + later, 64);
  }

  const conformance::Subject subject = kit::two_nodes();
  Rig rig;
  Link link;
};

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

TEST_CASE("a stranger who sends rubbish is closed, hears nothing and is shown to nobody") {
  Victim victim;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Stranger stranger(victim.door());
    stranger.say(kit::noise(seed, 1 + seed * 37));
    if (seed * 37 + 1 < kPreambleBytes) continue;  // may still become a preamble: see silence
    REQUIRE(victim.rig.until([&] { return stranger.is_closed(); }));
    CHECK(stranger.heard() == 0);
  }
  victim.rig.settle();
  CHECK(victim.rig.b().accepted.empty());
  victim.check_unhurt();
}

TEST_CASE("a preamble of another version is closed without an answer") {
  Victim victim;
  for (std::size_t at = 0; at < 8; ++at) {
    auto preamble = encode_preamble(1);
    preamble[at] ^= std::byte{1};
    Stranger stranger(victim.door());
    stranger.say(preamble);
    REQUIRE(victim.rig.until([&] { return stranger.is_closed(); }));
    CHECK(stranger.heard() == 0);
  }
  CHECK(victim.rig.b().accepted.empty());
}

TEST_CASE("rubbish behind a good preamble ends with kCorrupt") {
  Victim victim;
  Stranger stranger(victim.door());
  stranger.say(encode_preamble(1));
  stranger.say(kit::noise(5, 300));
  End end;
  REQUIRE(kit::until(
      victim.rig, [&] { kit::take_accepted(victim.rig.b(), end); },
      [&] { return !end.downs.empty(); }));
  CHECK(end.downs[0].code == Errc::kCorrupt);
  CHECK(end.frames == 0);
  REQUIRE(victim.rig.until([&] { return stranger.is_closed(); }));
  CHECK(stranger.heard() == 0);
  victim.check_unhurt();
}

TEST_CASE("who is silent, or slow with the preamble, is closed when his time is over") {
  Victim victim;
  Stranger silent(victim.door());
  Stranger slow(victim.door());
  slow.say(Bytes(encode_preamble(1)).first(9));
  victim.rig.settle();
  CHECK(!silent.is_closed());
  CHECK(!slow.is_closed());
  victim.turn_later(kPreambleLimitNs);
  REQUIRE(victim.rig.until([&] { return silent.is_closed() && slow.is_closed(); }));
  CHECK(silent.heard() + slow.heard() == 0);
  victim.check_unhurt();
}

TEST_CASE("who sleeps on wait_fd() is woken to close the silent") {
  Victim victim;
  Stranger silent(victim.door());
  core::Transport& door = *victim.rig.b().transport;
  victim.rig.settle();
  pollfd entry{door.wait_fd(), POLLIN, 0};
  REQUIRE(door.arm());
  CHECK(::poll(&entry, 1, 60'000) == 1);
}

TEST_CASE("a preamble in single bytes is a good one") {
  Victim victim;
  Stranger patient(victim.door());
  for (const std::byte byte : encode_preamble(1)) {
    patient.say({&byte, 1});
    victim.rig.turn();
  }
  CHECK(victim.rig.until([&] { return !victim.rig.b().accepted.empty(); }));
  CHECK(victim.rig.until([&] { return patient.is_closed() || patient.heard() == kPreambleBytes; }));
}

TEST_CASE("a port scan leaves nothing behind") {
  Victim victim;
  victim.rig.settle();
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 500; ++i) {
    { Stranger scan(victim.door()); }
    if (i % 50 == 0) victim.rig.turn();
  }
  CHECK(victim.rig.until([&] { return open_descriptors() == before; }));
  CHECK(victim.rig.b().accepted.empty());
  victim.check_unhurt();
}

TEST_CASE("of a crowd that proves nothing only so many are let in, and room is made again") {
  Victim victim;
  std::vector<std::unique_ptr<Stranger>> crowd;
  for (std::size_t i = 0; i < kUntrustedMax + 40; ++i) {
    crowd.push_back(std::make_unique<Stranger>(victim.door()));
    crowd.back()->say(encode_preamble(1));
    victim.rig.turn();
  }
  std::size_t closed = 0;
  REQUIRE(victim.rig.until([&] {
    closed = 0;
    for (auto& stranger : crowd) closed += stranger->is_closed() ? 1 : 0;
    return closed == 40;
  }));
  CHECK(victim.rig.b().accepted.size() == kUntrustedMax);
  victim.check_unhurt();
  victim.rig.b().accepted.clear();  // the engine drops those that say no hello
  Link another = victim.rig.link();
  CHECK(conformance::transfer(victim.rig, *another.a, *another.b, {{1, 8, 8}}));
}

/// Connections one after another, at a door for which time stands still.
struct Passing {
  Victim victim;
  const TimeNs now = monotonic_now();

  /// That many come, and prove themselves or not; returns how many are let in.
  std::uint64_t call(int count, bool proves) {
    std::uint64_t let_in = 0;
    auto& side = victim.rig.b();
    for (int i = 0; i < count; ++i) {
      const Stranger stranger(victim.door());
      stranger.say(encode_preamble(1));
      for (int turn = 0; turn < 200 && side.accepted.empty(); ++turn)
        side.transport->progress(side, now, 64);
      for (auto& endpoint : side.accepted) {
        if (proves) endpoint->trust();
        ++let_in;
      }
      side.accepted.clear();
    }
    return let_in;
  }
};

TEST_CASE(
    "a crowd that comes and goes is let in slowly, and those that prove themselves do not count") {
  Passing crowd;
  CHECK(crowd.call(100, true) == 100);
  const std::uint64_t let_in = crowd.call(static_cast<int>(Allowance::kMost) + 50, false);
  CHECK(let_in < Allowance::kMost + 10);
  CHECK(let_in > Allowance::kMost - 10);
  crowd.victim.turn_later(50 * Allowance::kEach);
  crowd.victim.check_unhurt();
}

TEST_CASE("whom the door does not let in does not keep it awake, and is let in later") {
  Passing crowd;
  crowd.call(static_cast<int>(Allowance::kMost) + 10, false);
  const Stranger waiting(crowd.victim.door());
  waiting.say(encode_preamble(1));
  auto& side = crowd.victim.rig.b();
  CHECK(crowd.victim.rig.until([&] {
    side.transport->progress(side, crowd.now, 64);
    pollfd door{side.transport->wait_fd(), POLLIN, 0};
    return ::poll(&door, 1, 0) == 0;
  }));
  CHECK(side.accepted.empty());
  crowd.victim.turn_later(50 * Allowance::kEach);
  CHECK_FALSE(side.accepted.empty());
}

TEST_CASE("out of descriptors the door refuses instead of spinning, and recovers") {
  Victim victim;
  std::vector<std::unique_ptr<Stranger>> waiting;
  for (int i = 0; i < 3; ++i) waiting.push_back(std::make_unique<Stranger>(victim.door()));
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const Fd next(::dup(0));
  REQUIRE(next);
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(next.number()) + 1;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &tight) == 0);
  const bool all_closed = victim.rig.until([&] {
    bool all = true;
    for (auto& stranger : waiting) all = all && stranger->is_closed();
    return all;
  });
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(all_closed);
  Link another = victim.rig.link();
  CHECK(conformance::transfer(victim.rig, *another.a, *another.b, {{1, 8, 8}}));
}

}  // namespace
}  // namespace livebtl::tcp
