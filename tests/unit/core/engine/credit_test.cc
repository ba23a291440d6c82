// SPDX-License-Identifier: BSD-3-Clause
// Members that send more than they may: what another one keeps for them is bounded, they are
// disconnected, and nobody else suffers.
#include "tests/unit/core/engine/hostile_member.h"
#include "tests/unit/core/engine/small_credit.h"
#include "tests/unit/core/engine/traffic.h"

using namespace livebtl;
using namespace livebtl::test;
using core::FrameKind;

namespace {

constexpr std::size_t kFlood = 5000;
constexpr std::uint64_t kFewBytes = 8, kManyBytes = 100'000;

/// A rank that is attacked, with a region of its own, and one that is honest.
struct Attacked {
  explicit Attacked(std::uint32_t unexpected_bytes = 0)
      : rig(2, {kind("self"), kind("tcp")}, 1, small_credit(unexpected_bytes)), traffic(rig) {
    run(rig, traffic, 5);
    open_memory(*rig.ports[0], memory);
  }
  /// How many of the member's messages wait unmatched; removes them.
  std::size_t waiting() {
    const auto member =
        rig.engines[0]->peer(core::encode_address(ProcessId{HostileMember::kProcess}, 1, {}));
    REQUIRE(member);
    std::size_t count = 0;
    for (const MessageKind of : {MessageKind::kTagged, MessageKind::kPlain}) {
      Completion found;
      ClaimedMessage* claim = nullptr;
      const ReceiveRequest its{.kind = of, .ignore = ~Tag{0}, .from = *member};
      while (rig.ports[0]->peek(its, found, &claim)) {
        bytes += found.message_bytes;
        rig.ports[0]->discard_claimed(claim);
        ++count;
      }
    }
    return count;
  }
  void expect_cut_off(HostileMember& member) {
    member.until([&] { return member.down() && member.seen().lost; });
    run(rig, traffic, 5);  // the honest pair goes on
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
  CHECK_FALSE(member.seen().lost);  // it has a right to that much
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

TEST_CASE("... also where there is memory beside it, once that is used up") {
  constexpr std::uint32_t kMemory = 64u << 10;
  Attacked at(kMemory);
  HostileMember member(at.rig);
  for (std::size_t i = 0; i < kFlood && !member.down(); ++i)
    member.send(FrameKind::kEager, core::MessageBody{});
  at.expect_cut_off(member);
  const std::size_t waited = at.waiting();
  CHECK(waited > kHeaders);
  CHECK(waited <= kHeaders + kMemory / core::Unexpected::kMemoryBytesMin);
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

TEST_CASE("data in countless pieces, each apart from the others, end their sender") {
  constexpr std::size_t kWanted = 1 << 20;
  Attacked at;
  std::vector<std::byte> room(kWanted);
  const MutableSlice slice{room.data(), room.size()};
  Watched receive;
  ReceiveRequest request{.kind = MessageKind::kPlain, .ignore = ~Tag{0}};
  request.slices = {&slice, 1};
  REQUIRE(at.rig.ports[0]->receive(request, receive) == Accept::kAccepted);
  HostileMember member(at.rig);
  member.send(FrameKind::kRts, core::RtsBody{0, 0, kWanted, 1});
  member.until([&] { return member.came(FrameKind::kCts) == 1; });
  const auto asked = member.last<core::CtsBody>(FrameKind::kCts);
  const std::byte byte{1};
  std::size_t pieces = 0;
  for (std::uint64_t offset = 2; offset < kWanted && !member.down(); offset += 2, ++pieces)
    member.send_data({asked.handle, offset, asked.attempt, 0}, {&byte, 1});
  at.expect_cut_off(member);
  CHECK(pieces < kWanted / 4);
  at.rig.until([&] { return receive.done_count == 1; });
  CHECK(receive.completion.code == Errc::kPeerLost);
  at.rig.ports.clear();
}

TEST_CASE("puts that are offered and never sent end their sender") {
  Attacked at;
  HostileMember member(at.rig);
  for (std::uint64_t i = 1; i <= kFlood && !member.down(); ++i)
    member.send(FrameKind::kRts, core::RtsBody{kKey, 0, kManyBytes, i}, {}, core::kFlagPut);
  at.expect_cut_off(member);
  CHECK(member.came(FrameKind::kCts) <= 2 * kHeaders);
  at.rig.ports.clear();
}

TEST_CASE("... and gets whose data is never asked for") {
  Attacked at;
  HostileMember member(at.rig);
  for (std::uint64_t i = 1; i <= kFlood && !member.down(); ++i)
    member.send(FrameKind::kGet, core::RemoteBody{kKey, 0, kManyBytes, i});
  at.expect_cut_off(member);
  CHECK(member.came(FrameKind::kRts) <= 2 * kHeaders);
  at.rig.ports.clear();
}

TEST_CASE("gets whose answers are read are answered for ever") {
  Attacked at;
  HostileMember member(at.rig);
  for (std::uint64_t i = 1; i <= 20 * kHeaders; ++i) {
    member.send(FrameKind::kGet, core::RemoteBody{kKey, 0, kFewBytes, i});
    member.until([&] { return member.came(FrameKind::kGetReply) == i || member.down(); });
  }
  CHECK_FALSE(member.seen().lost);
  CHECK(member.came(FrameKind::kGetReply) == 20 * kHeaders);
}

TEST_CASE("the answer to a get that nobody asked for ends its sender") {
  Attacked at;
  HostileMember member(at.rig);
  member.send(FrameKind::kRts, core::RtsBody{1, 0, kManyBytes, 1}, {}, core::kFlagGet);
  at.expect_cut_off(member);
}

TEST_CASE(
    "messages with answers that nobody acknowledges end their sender, however often they are "
    "received") {
  constexpr int kRounds = 5000;
  for (const bool offered : {false, true}) {
    CAPTURE(offered);
    Attacked at(64u << 20);
    HostileMember member(at.rig);
    std::uint64_t transfer = 0;
    for (int round = 0; round < kRounds && !member.down(); ++round) {
      for (std::size_t i = 0; i < kHeaders && !member.down(); ++i) {
        if (offered)
          member.send(FrameKind::kRts, core::RtsBody{0, 0, 0, ++transfer});
        else
          member.send(FrameKind::kEager, core::MessageBody{}, {}, core::kFlagWantDone);
      }
      at.waiting();
    }
    at.expect_cut_off(member);
  }
}
