// SPDX-License-Identifier: BSD-3-Clause
// `btlctl set sm single-copy=WAY` in a running job: large messages go that way from the next one
// on.
#include "tests/conformance/fake_knem.h"
#include "tests/unit/core/engine/ladder.h"
#include "transports/sm/sm_transport.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

constexpr std::size_t kExposedBytes = 256u << 10;

core::TransportKind sm_with(conformance::FakeKnem& knem) {
  core::TransportKind made = kind("sm");
  made.make = [&knem](const core::NodeFacts& facts) {
    return sm::SmTransport::make(facts, facts.settings->sm_ring_bytes,
                                 facts.settings->sm_single_copy, knem.device());
  };
  return made;
}

/// A message from rank 0 to rank 1 that is large enough to be exposed.
void send_one(Rig& rig) {
  const std::vector<std::byte> out = pattern(kExposedBytes, 5);
  std::vector<std::byte> in(kExposedBytes);
  const Slice from{out.data(), out.size()};
  const MutableSlice into{in.data(), in.size()};
  Watched send, receive;
  REQUIRE(rig.ports[1]->receive({.slices = {&into, 1}}, receive) == Accept::kAccepted);
  REQUIRE(rig.ports[0]->send({.to = rig.to(0, 1), .slices = {&from, 1}}, send) ==
          Accept::kAccepted);
  rig.until([&] { return send.done_count == 1 && receive.done_count == 1; });
  CHECK(in == out);
}

struct Case {
  std::optional<SingleCopy> way;
  bool by_knem, once;
};
constexpr Case kCases[] = {{{}, false, true},
                           {SingleCopy::kKnem, true, true},
                           {SingleCopy::kCma, false, true},
                           {SingleCopy::kKnem, true, true},
                           {SingleCopy::kNone, false, false},
                           {{}, false, true}};

std::uint64_t exposed(Rig& rig) {
  std::uint64_t frames = 0;
  for (const auto& transport : rig.engines[0]->status().transports)
    frames += transport.carried.frames_exposed;
  return frames;
}

/// Exposed payloads read by rank 1.
std::uint64_t reads(Rig& rig) {
  std::uint64_t frames = 0;
  for (const auto& transport : rig.engines[1]->status().transports)
    frames += transport.carried.frames_read_remotely;
  return frames;
}

}  // namespace

TEST_CASE("how sm copies is set under way: by knem, by cma, twice, as at the start") {
  conformance::FakeKnem knem;
  {
    Settings settings;
    settings.sm_single_copy = SingleCopy::kCma;
    Rig rig(2, {kind("self"), sm_with(knem)}, 1, settings);
    Ladder ladder{rig, [] {}};
    send_one(rig);  // the processes meet, and try both ways
    for (const Case& each : kCases) {
      core::Routing after;
      if (each.way) after.tuning["sm"].single_copy = each.way;
      ladder.go(after);
      const std::size_t copies_before = knem.copies;
      const std::uint64_t exposed_before = exposed(rig);
      send_one(rig);
      CHECK((knem.copies > copies_before) == each.by_knem);
      CHECK((exposed(rig) > exposed_before) == each.once);
    }
  }
  CHECK(knem.regions() == 0);
  CHECK(knem.mistakes == 0);
}

// Their data go ahead of a request that never comes. They are more than it takes to try the ways of
// copying.
TEST_CASE(
    "large messages into receives without room end, and leave the choice of the way as it is") {
  Rig rig(2, {kind("self"), kind("sm")});
  const std::vector<std::byte> out = pattern(256u << 10, 5);
  const Slice from{out.data(), out.size()};
  for (int i = 0; i < 40; ++i) {
    Watched send, receive;
    REQUIRE(rig.ports[1]->receive({}, receive) == Accept::kAccepted);
    REQUIRE(rig.ports[0]->send({.to = rig.to(0, 1), .slices = {&from, 1}}, send) ==
            Accept::kAccepted);
    rig.until([&] { return send.done_count == 1 && receive.done_count == 1; });
    CHECK(receive.completion.code == Errc::kTruncated);
  }
  send_one(rig);
}

TEST_CASE("what is exposed ahead, and nobody has asked for yet, is not read") {
  conformance::FakeKnem knem;
  Settings settings;
  settings.sm_single_copy = SingleCopy::kKnem;
  Rig rig(2, {kind("self"), sm_with(knem)}, 1, settings);
  send_one(rig);
  const std::uint64_t before = reads(rig);
  REQUIRE(before > 0);
  const std::vector<std::byte> out = pattern(kExposedBytes, 9);
  std::vector<std::byte> in(kExposedBytes);
  const Slice from{out.data(), out.size()};
  const MutableSlice into{in.data(), in.size()};
  Watched send, receive;
  REQUIRE(rig.ports[0]->send({.to = rig.to(0, 1), .slices = {&from, 1}}, send) ==
          Accept::kAccepted);
  Completion offered;
  rig.until([&] { return rig.ports[1]->peek({.ignore = ~Tag{0}}, offered, nullptr); });
  for (int i = 0; i < 100; ++i) {
    for (auto& engine : rig.engines) engine->progress();
  }
  CHECK(reads(rig) == before);
  REQUIRE(rig.ports[1]->receive({.slices = {&into, 1}}, receive) == Accept::kAccepted);
  rig.until([&] { return send.done_count == 1 && receive.done_count == 1; });
  CHECK(reads(rig) == before + 1);
  CHECK(in == out);
}
