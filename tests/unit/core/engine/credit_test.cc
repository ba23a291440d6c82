// SPDX-License-Identifier: BSD-3-Clause
// Members that send more than they may: what they make another one keep has a bound, they are
// disconnected, and nobody else suffers. And honest ones, which reach each bound and are not cut off.
#include "tests/unit/core/engine/hostile_member.h"
#include "tests/unit/core/engine/traffic.h"

using namespace livebtl;
using namespace livebtl::test;
using core::FrameKind;

namespace {

constexpr std::uint32_t kHeaders = 64;
constexpr std::size_t kBytes = 65536;
constexpr std::size_t kFlood = 5000;
constexpr std::uint64_t kKey = 5;

Settings small_credit() {
  Settings settings;
  settings.credit_headers = kHeaders;
  settings.credit_bytes = kBytes;
  settings.dead_ms = 0;
  return settings;
}

/// A rank that is attacked, one that is honest, and a region of the former.
struct Attacked {
  Attacked() : rig(2, {kind("self"), kind("tcp")}, 1, small_credit()), traffic(rig) {
    run(rig, traffic, 5);
    RegionRequest request;
    request.base = memory.data();
    request.bytes = memory.size();
    request.key = kKey;
    REQUIRE(rig.ports[0]->register_region(request));
  }
  /// How many messages of the member wait unmatched. Takes them out.
  std::size_t waiting() {
    std::size_t count = 0;
    for (const MessageKind of : {MessageKind::kTagged, MessageKind::kPlain}) {
      Completion found;
      ClaimedMessage* claim = nullptr;
      const ReceiveRequest any{.kind = of, .ignore = ~Tag{0}};
      while (rig.ports[0]->peek(any, found, &claim)) {
        bytes += found.message_bytes;
        rig.ports[0]->discard_claimed(claim);
        ++count;
      }
    }
    return count;
  }
  void expect_cut_off(HostileMember& member) {
    member.until([&] { return member.down() && member.seen().lost; });
    run(rig, traffic, 5);  // the honest ones go on
    CHECK(lost_peers() == 1);
  }
  std::size_t lost_peers() {
    const auto peers = rig.engines[0]->status().peers;
    return static_cast<std::size_t>(
        std::ranges::count_if(peers, [](const auto& peer) { return peer.lost; }));
  }

  std::vector<std::byte> memory = std::vector<std::byte>(1 << 20);
  Rig rig;
  Traffic traffic;
  std::uint64_t bytes = 0;  // of what waited
};

}  // namespace

TEST_CASE("unmatched messages beyond the credit in messages end their sender") {
  Attacked at;
  HostileMember member(at.rig);
  for (std::size_t i = 0; i < kHeaders; ++i) member.send(FrameKind::kEager, core::MessageBody{});
  at.rig.pass(0);
  CHECK_FALSE(member.seen().lost);  // that much is its right
  for (std::size_t i = 0; i < kFlood && !member.down(); ++i)
    member.send(FrameKind::kEager, core::MessageBody{});
  at.expect_cut_off(member);
  CHECK(at.waiting() == kHeaders);
}

TEST_CASE("... and those beyond the credit in bytes") {
  Attacked at;
  HostileMember member(at.rig);
  const std::vector<std::byte> payload(8000);
  for (std::size_t i = 0; i < kFlood && !member.down(); ++i)
    member.send(FrameKind::kEager, core::MessageBody{}, payload);
  at.expect_cut_off(member);
  CHECK(at.waiting() == kBytes / payload.size());
  CHECK(at.bytes <= kBytes);
}

TEST_CASE("... and offers, unmatched or never sent") {
  for (const bool matched : {false, true}) {
    CAPTURE(matched);
    Attacked at;
    std::vector<std::byte> room(1 << 20);
    const MutableSlice slice{room.data(), room.size()};
    Watched receive;
    if (matched) {  // a buffer for many messages takes each
      ReceiveRequest request{.kind = MessageKind::kPlain, .ignore = ~Tag{0}, .multi_bytes_min = 1};
      request.slices = {&slice, 1};
      REQUIRE(at.rig.ports[0]->receive(request, receive) == Accept::kAccepted);
    }
    HostileMember member(at.rig);
    for (std::uint64_t i = 1; i <= kFlood && !member.down(); ++i)
      member.send(FrameKind::kRts, core::RtsBody{0, 0, 100, i});
    at.expect_cut_off(member);
    CHECK(at.waiting() == (matched ? 0 : kHeaders));
    CHECK(member.came(FrameKind::kCts) <= kHeaders);
    at.rig.ports.clear();
  }
}

TEST_CASE("requests whose answers are not read end their sender") {
  constexpr std::uint64_t kSmall = 8, kLarge = 100'000;
  const auto put = [](HostileMember& member, std::uint64_t i) {
    member.send(FrameKind::kRts, core::RtsBody{kKey, 0, kLarge, i}, {}, core::kFlagPut);
  };
  const auto get = [](HostileMember& member, std::uint64_t i) {
    member.send(FrameKind::kGet, core::RemoteBody{kKey, 0, kLarge, i});
  };
  const auto small_get = [](HostileMember& member, std::uint64_t i) {
    member.send(FrameKind::kGet, core::RemoteBody{kKey, 0, kSmall, i});
  };
  SUBCASE("puts that are offered, and never sent") {
    Attacked at;
    HostileMember member(at.rig);
    for (std::uint64_t i = 1; i <= kFlood && !member.down(); ++i) put(member, i);
    at.expect_cut_off(member);
    CHECK(member.came(FrameKind::kCts) <= 2 * kHeaders);
    at.rig.ports.clear();
  }
  SUBCASE("gets whose data is never asked for") {
    Attacked at;
    HostileMember member(at.rig);
    for (std::uint64_t i = 1; i <= kFlood && !member.down(); ++i) get(member, i);
    at.expect_cut_off(member);
    CHECK(member.came(FrameKind::kRts) <= 2 * kHeaders);
    at.rig.ports.clear();
  }
  SUBCASE("gets whose answers are read are answered for ever") {
    Attacked at;
    HostileMember member(at.rig);
    for (std::uint64_t i = 1; i <= 20 * kHeaders; ++i) {
      small_get(member, i);
      member.until([&] { return member.came(FrameKind::kGetReply) == i || member.down(); });
    }
    CHECK_FALSE(member.seen().lost);
    CHECK(member.came(FrameKind::kGetReply) == 20 * kHeaders);
  }
}

TEST_CASE("the answer to a get that nobody asked for ends its sender") {
  Attacked at;
  HostileMember member(at.rig);
  member.send(FrameKind::kRts, core::RtsBody{1, 0, 100'000, 1}, {}, core::kFlagGet);
  at.expect_cut_off(member);
}

namespace {

/// Operations of rank 0 towards rank 1, many at once.
class Burst {
 public:
  explicit Burst(Rig& rig) : rig_(rig), to_(rig.to(0, 1)) {}

  void put(std::size_t count, std::size_t bytes) {
    for (std::size_t i = 0; i < count; ++i) {
      const Slice slice{out_.data(), bytes};
      PutRequest request{.to = to_, .remote = {kKey, 0}};
      request.slices = {&slice, 1};
      REQUIRE(rig_.ports[0]->put(request, next()) == Accept::kAccepted);
    }
  }
  void get(std::size_t count, std::size_t bytes) {
    for (std::size_t i = 0; i < count; ++i) {
      const MutableSlice slice{in_.data(), bytes};
      GetRequest request{.to = to_, .remote = {kKey, 0}};
      request.slices = {&slice, 1};
      REQUIRE(rig_.ports[0]->get(request, next()) == Accept::kAccepted);
    }
  }
  void send(std::size_t count, std::size_t bytes, bool delivery_complete) {
    for (std::size_t i = 0; i < count; ++i) {
      const Slice slice{out_.data(), bytes};
      SendRequest request{.to = to_, .delivery_complete = delivery_complete, .tag = 1};
      request.slices = {&slice, 1};
      REQUIRE(rig_.ports[0]->send(request, next()) == Accept::kAccepted);
    }
  }
  void receive(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const MutableSlice slice{room_.data(), room_.size()};
      ReceiveRequest request{.tag = 1};
      request.slices = {&slice, 1};
      REQUIRE(rig_.ports[1]->receive(request, next()) == Accept::kAccepted);
    }
  }
  /// Everything has ended in the way that it should.
  bool done(Errc code = Errc::kOk) const {
    return std::ranges::all_of(operations_, [code](const auto& each) {
      return each->done_count == 1 && each->completion.code == code;
    });
  }
  bool ended() const {
    return std::ranges::all_of(operations_, [](const auto& each) { return each->done_count == 1; });
  }

 private:
  Watched& next() { return *operations_.emplace_back(std::make_unique<Watched>()); }

  Rig& rig_;
  const Destination to_;
  std::vector<std::unique_ptr<Watched>> operations_;
  std::vector<std::byte> out_ = std::vector<std::byte>(50'000), in_ = out_, room_ = out_;
};

void expect_nobody_lost(Rig& rig) {
  for (auto& engine : rig.engines) {
    for (const auto& peer : engine->status().peers) CHECK_FALSE(peer.lost);
  }
}

}  // namespace

TEST_CASE("honest processes want more at once than is granted, and nobody is cut off") {
  for (const char* transport : {"tcp", "sm"}) {
    CAPTURE(transport);
    Rig rig(2, {kind("self"), kind(transport)}, 1, small_credit());
    std::vector<std::byte> memory(1 << 20);
    RegionRequest region;
    region.base = memory.data();
    region.bytes = memory.size();
    region.key = kKey;
    REQUIRE(rig.ports[1]->register_region(region));
    Burst burst(rig);
    for (const std::size_t bytes : {8UL, 50'000UL}) {
      burst.put(10 * kHeaders, bytes);
      burst.get(10 * kHeaders, bytes);
      burst.send(10 * kHeaders, bytes, bytes == 8);
      burst.receive(10 * kHeaders);
    }
    rig.until([&] { return burst.done(); });
    expect_nobody_lost(rig);
    rig.ports.clear();
  }
}

TEST_CASE("... nor when they give up what they have asked for, again and again") {
  Rig rig(2, {kind("self"), kind("tcp")}, 1, small_credit());
  std::vector<std::byte> memory(1 << 20);
  RegionRequest region;
  region.base = memory.data();
  region.bytes = memory.size();
  region.key = kKey;
  REQUIRE(rig.ports[1]->register_region(region));
  for (int round = 0; round < 20; ++round) {
    Burst burst(rig);
    burst.put(3 * kHeaders, 50'000);
    burst.get(3 * kHeaders, 50'000);
    for (int turns = 0; turns < round; ++turns) rig.until([] { return true; });
    for (auto& engine : rig.engines) engine->progress();
    auto port = rig.engines[0]->open_port({});
    REQUIRE(port);
    rig.ports[0] = std::move(*port);
    CHECK(burst.ended());
  }
  Burst last(rig);
  last.put(3 * kHeaders, 50'000);
  last.get(3 * kHeaders, 50'000);
  rig.until([&] { return last.done(); });
  expect_nobody_lost(rig);
  rig.ports.clear();
}

TEST_CASE("a port that closes gives back what nobody received, and tells those who wait for it") {
  Rig rig(2, {kind("self"), kind("tcp")}, 1, small_credit());
  for (const bool closes_first : {false, true}) {
    CAPTURE(closes_first);
    for (int round = 0; round < 3; ++round) {
      Burst burst(rig);
      Completion found;
      if (closes_first) rig.ports[1] = nullptr;
      burst.send(kHeaders / 2, 8, true);
      burst.send(kHeaders / 2, 50'000, false);
      const ReceiveRequest any{.tag = 1};
      if (!closes_first) {
        rig.until([&] { return rig.ports[1]->peek(any, found, nullptr); });
        rig.ports[1] = nullptr;
      }
      rig.until([&] { return burst.done(Errc::kCancelled); });
      auto port = rig.engines[1]->open_port({});
      REQUIRE(port);
      rig.ports[1] = std::move(*port);
    }
  }
  expect_nobody_lost(rig);
}
