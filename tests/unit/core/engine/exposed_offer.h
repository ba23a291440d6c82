// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/engine/exposed_offer.h -- large messages between engines over shared memory that offer and
// expose all of their bytes in one frame.
#pragma once

#include <deque>

#include "tests/unit/core/engine/rig.h"
#include "tests/unit/core/engine/tapped.h"

namespace livebtl::test {

constexpr std::size_t kOfferedBytes = 40'000;

/// A message from rank 0 to rank 1, and what becomes of it.
struct OfferedSend {
  OfferedSend(Rig& rig, std::uint64_t seed, std::size_t size = kOfferedBytes)
      : bytes(pattern(size, seed)) {
    const Slice from{bytes.data(), bytes.size()};
    REQUIRE(rig.ports[0]->send({.to = rig.to(0, 1), .tag = seed, .slices = {&from, 1}},
                               operation) == Accept::kAccepted);
  }
  std::vector<std::byte> bytes;
  Watched operation;
};

/// A receive of rank 1's that takes any message.
struct OfferedReceive {
  explicit OfferedReceive(Rig& rig, std::size_t room = kOfferedBytes) : bytes(room) {
    const MutableSlice into{bytes.data(), bytes.size()};
    REQUIRE(rig.ports[1]->receive({.ignore = ~Tag{0}, .slices = {&into, 1}}, operation) ==
            Accept::kAccepted);
  }
  std::vector<std::byte> bytes;
  Watched operation;
};

template <class Operations>
bool all_done(const Operations& operations) {
  return std::ranges::all_of(operations,
                             [](const auto& each) { return each.operation.done_count == 1; });
}

/// Processes of which ranks 0 and 1 have met and tried how the kernel copies.
struct OfferedPair {
  explicit OfferedPair(SingleCopy way = SingleCopy::kCma, std::size_t processes = 2,
                       int linger_ms = -1)
      : rig(processes, {kind("self"), tapped("ring", ring, "sm"), kind("tcp")}, 1,
            with(way, linger_ms)) {
    OfferedReceive received(rig, 256u << 10);
    OfferedSend sent(rig, 1, 256u << 10);
    rig.until([&] { return sent.operation.done_count + received.operation.done_count == 2; });
    ring[0].posted.clear();
    ring[1].posted.clear();
    exposed_before = exposed();
  }
  /// How many frames of rank 0 were exposed.
  std::uint64_t exposed() const {
    std::uint64_t frames = 0;
    for (const auto& transport : rig.engines[0]->status().transports)
      frames += transport.carried.frames_exposed;
    return frames - exposed_before;
  }
  std::uint64_t posted(std::uint64_t rank, core::FrameKind kind) { return ring[rank].posted[kind]; }
  /// Neither a request nor data.
  bool went_with_offers(std::uint64_t offers) {
    using core::FrameKind;
    return posted(0, FrameKind::kRts) == offers && posted(0, FrameKind::kData) == 0 &&
           posted(1, FrameKind::kCts) == 0 && posted(1, FrameKind::kFin) == offers;
  }
  /// A message for rank 1 that nobody has received.
  bool keeps_one() {
    Completion found;
    return rig.ports[1]->peek({.ignore = ~Tag{0}}, found, nullptr);
  }
  bool keeps_one(Tag tag) {
    Completion found;
    return rig.ports[1]->peek({.tag = tag}, found, nullptr);
  }
  static Settings with(SingleCopy way, int linger_ms) {
    Settings settings;
    settings.linger_ms = linger_ms;
    settings.sm_single_copy = way;
    return settings;
  }

  Taps ring;
  Rig rig;
  std::uint64_t exposed_before = 0;
};

}  // namespace livebtl::test
