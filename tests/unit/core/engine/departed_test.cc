// SPDX-License-Identifier: BSD-3-Clause
// Peers that have ended, in good order or not: what their records still cost, and what can still be
// received from them.
#include "tests/unit/core/engine/memory_in_use.h"
#include "tests/unit/core/engine/rig.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

Settings at_once() {
  Settings settings;
  settings.dead_ms = 0;
  return settings;
}

/// How a receive on that port ends.
Errc receive(Rig& rig, Port& at, Tag tag, const Destination& source, MutableBytes into) {
  Watched receive;
  const MutableSlice place{into.data(), into.size()};
  ReceiveRequest wanted{.tag = tag, .from = source};
  wanted.slices = {&place, 1};
  REQUIRE(at.receive(wanted, receive) == Accept::kAccepted);
  rig.until([&] { return receive.done_count == 1; });
  return receive.completion.code;
}

/// One small message from there to rank 0, received.
void talk(Rig& rig, std::size_t from) {
  std::byte out[8]{}, in[8]{};
  const Slice bytes{out, sizeof out};
  const MutableSlice place{in, sizeof in};
  Watched send, receive;
  ReceiveRequest wanted{.tag = 1};
  wanted.slices = {&place, 1};
  REQUIRE(rig.ports[0]->receive(wanted, receive) == Accept::kAccepted);
  SendRequest request{.to = rig.to(from, 0), .tag = 1};
  request.slices = {&bytes, 1};
  REQUIRE(rig.ports[from]->send(request, send) == Accept::kAccepted);
  rig.until([&] { return send.done_count == 1 && receive.done_count == 1; });
}

std::uint64_t kept_bytes(core::EngineCore& engine) {
  std::uint64_t bytes = 0;
  for (const auto& peer : engine.status().peers) bytes += peer.kept_bytes;
  return bytes;
}

/// That many processes come, talk to rank 0, and leave in good order.
void come_and_go(Rig& rig, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    rig.join({kind("self"), kind("tcp")});
    talk(rig, 1);
    const auto gone = rig.engines[0]->peer(rig.ports[1]->address());
    REQUIRE(gone);
    rig.until(
        [&] { return kept_bytes(*rig.engines[1]) == 0; });  // else linger() waits here for rank 0
    rig.engines[1]->linger();
    rig.ports.pop_back();
    rig.engines.pop_back();
    CHECK(receive(rig, *rig.ports[0], 2, *gone, {}) == Errc::kPeerLost);
  }
}

/// Rank 0 died after it had sent a small and a large message (tags 1, 2), not yet received.
class Dead {
 public:
  Dead() : rig(2, {kind("self"), kind("sm")}, 1, at_once()), from(rig.to(1, 0)), large(1 << 20) {
    const Slice few{large.data(), 8}, all{large.data(), large.size()};
    send({&few, 1}, 1, small_send);
    send({&all, 1}, 2, large_send);
    Completion found;
    rig.until([&] { return rig.ports[1]->peek({.tag = 2}, found, nullptr); });
    rig.ports.erase(rig.ports.begin());
    rig.engines.erase(rig.engines.begin());
  }
  Errc receive(Tag tag, const Destination& source) {
    return ::receive(rig, *rig.ports[0], tag, source, large);
  }

  Rig rig;
  const Destination from;

 private:
  void send(std::span<const Slice> slices, Tag tag, Watched& operation) {
    SendRequest request{.to = rig.to(0, 1), .tag = tag};
    request.slices = slices;
    REQUIRE(rig.ports[0]->send(request, operation) == Accept::kAccepted);
  }

  std::vector<std::byte> large;
  Watched small_send, large_send;
};

}  // namespace

TEST_CASE("of processes that have come and gone little is kept") {
  Rig rig(1, {kind("self"), kind("tcp")}, 1, at_once());
  come_and_go(rig, 2);  // one-time allocations are made by now
  const std::size_t before = memory_in_use();
  come_and_go(rig, 8);
  if (before == 0) {
    MESSAGE("skipped: this build does not tell how much memory is in use");
    return;
  }
  CHECK(memory_in_use() < before + 8 * 8192);
}

TEST_CASE("a small message of a peer that is dead is received, a large one is reported lost") {
  Dead peer;
  CHECK(peer.receive(3, peer.from) == Errc::kPeerLost);  // it counts as ended from here on
  Destination source{};
  SUBCASE("by receives from it") { source = peer.from; }
  SUBCASE("by receives from anybody") {}
  CHECK(peer.receive(1, source) == Errc::kOk);
  CHECK(peer.receive(2, source) == Errc::kPeerLost);
}

TEST_CASE("a receive from a peer that is dead ends at once, however late it is posted") {
  Dead peer;
  for (int i = 0; i < 3; ++i) CHECK(peer.receive(3, peer.from) == Errc::kPeerLost);
}

// Else nobody would learn that it is dead: only a process that is dialled can be proved dead.
TEST_CASE("a process from which somebody receives, and that was never met, is dialled in the end") {
  Rig rig(2, {kind("self"), kind("tcp")}, 1, at_once());
  Watched receive;
  REQUIRE(rig.ports[0]->receive({.tag = 2, .from = rig.to(0, 1)}, receive) == Accept::kAccepted);
  const auto met = [&] { return !used(rig, 0, 1).empty(); };
  TimeNs passed = 0;
  for (; !met() && passed < 60 * kSecond; passed += 100 * kMillisecond) {
    rig.let(100 * kMillisecond);
    for (auto& engine : rig.engines) {
      engine->progress();
      Rig::sleep_of(*engine);
    }
  }
  CHECK(met());
  CHECK(receive.done_count == 0);
  rig.ports.clear();
}

TEST_CASE("a peer that has said goodbye, and whose path's end does not come through, is given up") {
  Rig rig(2, {kind("self"), kind("tcp")}, 1, at_once());
  talk(rig, 1);
  const Destination from = rig.to(0, 1);
  Watched receive;
  REQUIRE(rig.ports[0]->receive({.tag = 2, .from = from}, receive) == Accept::kAccepted);
  rig.until([&] { return kept_bytes(*rig.engines[1]) == 0; });
  rig.engines[1]->linger();
  // From here on only rank 0 gets turns.
  TimeNs passed = 0;
  for (; receive.done_count == 0 && passed < 60 * kSecond; passed += 100 * kMillisecond) {
    rig.let(100 * kMillisecond);
    Rig::sleep_of(*rig.engines[0]);
  }
  CHECK(receive.completion.code == Errc::kPeerLost);
  CHECK(passed >= 2 * kSecond);  // LIVEBTL_PROBE_MS: a path with an end is not cut short
  rig.ports.clear();
}
