// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/waiting.cc -- behaviours: a side that sleeps on wait_fd() is woken by
// everything that concerns it.
#include <doctest/doctest.h>
#include <poll.h>

#include <array>
#include <atomic>
#include <thread>

#include "tests/conformance/behaviours.h"
#include "tests/conformance/rig.h"

namespace livebtl::conformance {
namespace {

constexpr int kDeadlineMs = static_cast<int>(kDeadlineNs / kMillisecond);

bool readable(int fd, int timeout_ms) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, timeout_ms) == 1;
}

/// Moves `side` until it may sleep. REQUIREs that this happens.
void fall_asleep(Rig& rig, Side& side) {
  const TimeNs deadline = monotonic_now() + kDeadlineNs;
  while (true) {
    rig.turn();
    if (side.transport->arm() && !readable(side.transport->wait_fd(), 0)) return;
    REQUIRE(monotonic_now() < deadline);
  }
}

/// `side` sleeps until its descriptor shows work (or, without one, until arm() says so).
bool woken(Rig& rig, Side& side) {
  const int fd = side.transport->wait_fd();
  if (fd >= 0 && !rig.loopback()) return readable(fd, kDeadlineMs);
  return !side.transport->arm() || (fd >= 0 && readable(fd, 0));
}

void arm_says_no_when_there_is_work(const Subject& subject) {
  Rig rig(subject);
  Link link = rig.link();
  REQUIRE(rig.until([&] { return rig.b().transport->arm(); }));
  REQUIRE(rig.post_soon(rig.a(), *link.a, {1, 8, 8}));
  const TimeNs deadline = monotonic_now() + kDeadlineNs;
  while (rig.b().transport->arm() &&
         !(rig.b().transport->wait_fd() >= 0 && readable(rig.b().transport->wait_fd(), 0))) {
    rig.turn_sender(rig.a());
    REQUIRE(monotonic_now() < deadline);
  }
  CHECK(link.b->frames == 0);
  REQUIRE(rig.until([&] { return link.b->frames == 1; }));
}

void a_frame_wakes(const Subject& subject) {
  Rig rig(subject);
  Link link = rig.link();
  for (std::uint64_t round = 1; round <= 50; ++round) {
    if (rig.b().transport->wait_fd() >= 0) fall_asleep(rig, rig.b());
    REQUIRE(rig.post_soon(rig.a(), *link.a, {round, 16, round * 20}));
    rig.turn_sender(rig.a());
    REQUIRE(woken(rig, rig.b()));
    REQUIRE(rig.until([&] { return link.b->frames == round; }));
  }
}

void a_close_wakes(const Subject& subject) {
  Rig rig(subject);
  Link link = rig.link();
  if (rig.b().transport->wait_fd() >= 0) fall_asleep(rig, rig.b());
  link.a->close();
  rig.turn_sender(rig.a());
  REQUIRE(woken(rig, rig.b()));
  REQUIRE(rig.until([&] { return !link.b->downs.empty(); }));
}

void a_connection_wakes(const Subject& subject) {
  Rig rig(subject);
  { Link warm = rig.link(); }
  if (rig.b().transport->wait_fd() >= 0) fall_asleep(rig, rig.b());
  End end;
  end.take(rig.dial(rig.a(), rig.b()));
  // The engine, which is awake then, brings a ticket; the first frame wakes.
  if (rig.a().transport->caps().by_ticket) REQUIRE(rig.post_soon(rig.a(), end, {1, 8, 8}));
  rig.turn_sender(rig.a());
  REQUIRE(woken(rig, rig.b()));
  REQUIRE(rig.until([&] { return !rig.b().accepted.empty(); }));
}

void a_sender_that_waits_for_room_goes_on(const Subject& subject) {
  Rig rig(subject);
  Link link = rig.link();
  link.b->keep_frames = false;
  std::size_t taken = 0;
  const std::size_t wanted = 200;
  const Blob header = pattern(1, 16);
  const Blob payload = pattern(2, rig.payload_max());
  REQUIRE(rig.until([&] {
    while (taken < wanted && link.a->endpoint().post({header, payload, 0, false}) != Post::kRetry)
      ++taken;
    return link.b->frames == wanted;
  }));
}

/// Moves only `side` until the condition holds.
template <class Condition>
void move_until(Side& side, Condition condition) {
  const TimeNs deadline = monotonic_now() + kDeadlineNs;
  while (!condition()) {
    side.turn();
    REQUIRE(monotonic_now() < deadline);
  }
}

/// Sleeps whenever it may; moves when woken.
void doze(Side& side) {
  if (!readable(side.transport->wait_fd(), 0)) return;
  do side.turn();
  while (!side.transport->arm());
}

/// An exporter that waits for its memory is woken when the remote read needs it, and when it is
/// done.
void a_remote_read_wakes_the_exporter(const Subject& subject) {
  Rig rig(subject);
  if (rig.zero_copy_max() == 0 || !subject.own_threads || rig.a().transport->wait_fd() < 0) return;
  Link link = rig.link();
  const Blob header = pattern(1, 16), payload = pattern(2, rig.zero_copy_max());
  for (std::size_t round = 1; round <= 20; ++round) {
    move_until(rig.a(), [&] {
      return link.a->endpoint().post({header, payload, round, true, true}) == Post::kPosted;
    });
    move_until(rig.a(), [&] { return rig.a().transport->arm(); });
    move_until(rig.b(), [&] {
      doze(rig.a());
      return link.a->sent.size() == round && link.b->frames == round;
    });
  }
}

/// Both sides in their own threads; the receiver sleeps whenever it may.
void threads_miss_no_wake_up(const Subject& subject) {
  if (subject.loopback || !subject.own_threads) return;
  Rig rig(subject);
  if (rig.b().transport->wait_fd() < 0) return;
  Link link = rig.link();
  constexpr std::size_t kRounds = 2000;
  link.a->keep_frames = link.b->keep_frames = false;
  std::atomic<bool> failed{false};
  // One ping in flight: the receiver keeps falling asleep, at any moment.
  std::thread echo([&] {
    std::size_t owed = 0;
    link.b->on_each = [&](Bytes, Bytes) { ++owed; };
    for (std::size_t echoed = 0; echoed < kRounds && !failed;) {
      rig.b().turn();
      while (owed > 0 && link.b->post_pattern(1, 8, 8) != Post::kRetry) --owed, ++echoed;
      if (owed == 0 && echoed < kRounds && rig.b().transport->arm() &&
          !readable(rig.b().transport->wait_fd(), kDeadlineMs))
        failed = true;
    }
    while (link.b->endpoint().in_flight() > 0 && !failed) rig.b().turn();
  });
  for (std::size_t sent = 0; sent < kRounds && !failed;) {
    if (link.a->frames == sent && link.a->post_pattern(1, 8, 8) != Post::kRetry) ++sent;
    for (const std::size_t awaited = sent; link.a->frames < awaited && !failed;) rig.a().turn();
  }
  echo.join();
  CHECK_MESSAGE(!failed, "the receiver slept through a frame");
  CHECK(rig.until([&] { return link.a->frames == kRounds; }));
}

constexpr std::array kWaitingBehaviours{
    Behaviour{"arm says no when there is work", arm_says_no_when_there_is_work},
    Behaviour{"a frame wakes", a_frame_wakes},
    Behaviour{"a close wakes", a_close_wakes},
    Behaviour{"a connection wakes", a_connection_wakes},
    Behaviour{"a sender that waits for room goes on", a_sender_that_waits_for_room_goes_on},
    Behaviour{"a remote read wakes the exporter", a_remote_read_wakes_the_exporter},
    Behaviour{"threads miss no wake-up", threads_miss_no_wake_up},
};

}  // namespace

std::span<const Behaviour> waiting_behaviours() { return kWaitingBehaviours; }

}  // namespace livebtl::conformance
