// SPDX-License-Identifier: BSD-3-Clause
// When the agent of a process sleeps until something happens, and the deadlines that end its sleep
// while the application is away. Time is the test's own, and passes only here.
#include <poll.h>

#include "core/switch/hold.h"
#include "tests/unit/core/engine/one_byte.h"
#include "tests/unit/core/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

std::vector<core::TransportKind> with_self(const std::string& transport) {
  return {kind("self"), kind(transport)};
}

bool readable(int fd) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, 0) > 0;
}

/// A transport that cannot be opened.
core::TransportKind absent(int& tries) {
  return {"absent", "",
          [&tries](const core::NodeFacts&) -> Result<std::unique_ptr<core::Transport>> {
            ++tries;
            return fail(Errc::kUnreachable, "there is no device");
          }};
}

}  // namespace

TEST_CASE(
    "agents of processes that have met, and have nothing to do, sleep until something happens") {
  for (const std::string transport : {"sm", "tcp"}) {
    CAPTURE(transport);
    Rig rig(2, with_self(transport));
    const Sent byte(rig);
    rig.until([&] { return byte.received.done_count == 1; });
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(rig.pass_away(10 * kSecond, i) < 0);
      CHECK(Rig::is_away(*rig.engines[i]));
    }
  }
}

TEST_CASE(
    "an application that enters without calling progress() is served after it has left again") {
  for (const std::string transport : {"sm", "tcp"}) {
    CAPTURE(transport);
    Rig rig(2, with_self(transport));
    CHECK(rig.pass_away(kSecond) < 0);
    const Sent byte(rig);  // needs a connection
    CHECK(!Rig::is_away(*rig.engines[0]));
    rig.pass_away(2 * kSecond);
    CHECK(byte.received.done_count == 1);
  }
}

TEST_CASE("an application that is not missed is looked for seldom") {
  Rig rig(2, with_self("tcp"));
  const Sent byte(rig);
  rig.until([&] { return byte.received.done_count == 1; });
  rig.pass_away(2 * kSecond);
  int attended = 0;
  for (int absence = 0; absence < 200; ++absence) {
    for (int i = 0; i < 3; ++i) rig.pass(kMillisecond);  // it calls in ...
    bool away = false;
    for (int i = 0; i < 20; ++i) {  // ... every 20 ms
      rig.pass_away(kMillisecond);
      away = away || Rig::is_away(*rig.engines[0]);
    }
    attended += away ? 1 : 0;
  }
  CHECK(attended >= 1);  // in 4.6 s
  CHECK(attended <= 4);
}

TEST_CASE("one that is missed is attended to each time: the agent answers for it") {
  Rig rig(2, with_self("tcp"));
  std::uint64_t counter = 0;
  auto key = rig.ports[1]->register_region({.base = &counter, .bytes = sizeof counter});
  REQUIRE(key);
  const std::uint64_t one = 1;
  for (int absence = 0; absence < 20; ++absence) {
    for (int i = 0; i < 3; ++i) rig.pass(kMillisecond);
    Watched added;  // by one that waits for it
    const AtomicRequest request{.to = rig.to(0, 1), .remote = {*key, 0}, .operand = &one};
    REQUIRE(rig.ports[0]->atomic(request, added) == Accept::kAccepted);
    for (int i = 0; i < 20; ++i) {
      rig.let(kMillisecond);
      rig.engines[0]->progress();
      Rig::sleep_of(*rig.engines[1]);
    }
    if (absence > 0) CHECK(added.done_count == 1);
    rig.until([&] { return added.done_count == 1; });
  }
  CHECK(counter == 20);
}

TEST_CASE(
    "a device that is absent is looked for about once a second, and nothing else wakes the agent") {
  int tries = 0;
  Rig rig(1, {kind("self"), absent(tries)});
  rig.pass_away(3 * kSecond);
  const int before = tries;
  const std::int64_t sleep = rig.pass_away(10 * kSecond);
  CHECK(sleep > 0);
  CHECK(sleep <= kSecond);
  CHECK(tries >= before + 9);
  CHECK(tries <= before + 11);
}

TEST_CASE("a hold's lease runs out while the application is away") {
  Rig rig(1, with_self("tcp"));
  rig.pass_away(2 * kSecond);
  core::EngineCore& engine = *rig.engines[0];
  REQUIRE(engine.hold({.id = 5, .lease = 3 * kSecond}).refusal.empty());
  const std::int64_t sleep = rig.pass_away(kSecond);
  CHECK(sleep > 0);
  CHECK(sleep <= 3 * kSecond);
  CHECK(engine.hold_report().state == core::HoldState::kParked);
  int told = 0;
  engine.on_report([&] { ++told; });
  rig.pass_away(4 * kSecond);
  CHECK(told > 0);  // before anybody asks
  CHECK(engine.hold_report().state == core::HoldState::kBroken);
}

TEST_CASE(
    "a path on which nothing answers is probed, and given up, while the application is away") {
  Taps taps;
  Rig rig(2, {kind("self"), tapped("tcp", taps)});
  const Sent first(rig);
  rig.until([&] { return first.received.done_count == 1; });
  rig.pass_away(10 * kSecond);
  const Sent second(rig);
  core::EngineCore& engine = *rig.engines[0];
  // From here on only rank 0 gets turns: what it has sent is not acknowledged.
  rig.let(kMillisecond);
  TimeNs passed = 0;
  while (!taps[0].sinks.empty() && passed < 20 * kSecond) {
    const std::int64_t sleep = std::max<std::int64_t>(Rig::sleep_of(engine), kMillisecond);
    REQUIRE(sleep <= 3 * kSecond);
    rig.let(sleep);
    passed += sleep;
  }
  CHECK(passed >= 4 * kSecond);  // LIVEBTL_PROBE_MS, twice
  CHECK(passed <=
        10 * kSecond);  // after an absence that was not missed, and a frame that came meanwhile
  rig.ports.clear();    // the second receive goes first
}

TEST_CASE("operations that name a dead peer end while the application is away") {
  Rig rig(2, with_self("sm"));
  const Sent byte(rig);
  rig.until([&] { return byte.received.done_count == 1; });
  rig.pass_away(2 * kSecond);
  Watched waits;
  REQUIRE(rig.ports[0]->receive({.from = rig.to(0, 1)}, waits) == Accept::kAccepted);
  rig.engines[1]->linger();
  rig.ports.pop_back();
  rig.engines.pop_back();
  rig.pass_away(5 * kSecond);
  CHECK(waits.done_count == 1);
  CHECK(waits.completion.code == Errc::kPeerLost);
}

TEST_CASE(
    "whoever sleeps elsewhere is woken by the next message, however little it was missed before") {
  Rig rig(2, with_self("tcp"));
  const Sent byte(rig);
  rig.until([&] { return byte.received.done_count == 1; });
  rig.pass_away(2 * kSecond);
  for (int i = 0; i < 3; ++i) rig.pass(kMillisecond);  // that absence was not missed
  core::EngineCore& engine = *rig.engines[1];
  engine.leave();
  CHECK(readable(engine.wait_fds().front()));  // the timer: the agent should look
  CHECK(Rig::sleep_of(engine) < 0);
  CHECK(Rig::is_away(engine));
}
