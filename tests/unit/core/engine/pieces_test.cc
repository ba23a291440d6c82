// SPDX-License-Identifier: BSD-3-Clause
// Large messages over shared memory: copied in pieces, so that both ends copy at once, or exposed,
// whichever is faster.
#include "tests/unit/core/engine/large.h"
#include "tests/unit/core/engine/tapped.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

constexpr std::size_t kManyPieces = 256u << 10;

/// How many data frames a message of kManyPieces from rank 0 to rank 1 takes.
std::uint64_t frames_of_one(Rig& rig, Tap& tap) {
  const std::vector<std::byte> out = pattern(kManyPieces, 5);
  std::vector<std::byte> in(kManyPieces);
  const Slice from{out.data(), out.size()};
  const MutableSlice into{in.data(), in.size()};
  Watched send, receive;
  const std::uint64_t before = tap.posted[core::FrameKind::kData];
  REQUIRE(rig.ports[1]->receive({.slices = {&into, 1}}, receive) == Accept::kAccepted);
  REQUIRE(rig.ports[0]->send({.to = rig.to(0, 1), .slices = {&from, 1}}, send) ==
          Accept::kAccepted);
  rig.until([&] { return send.done_count == 1 && receive.done_count == 1; });
  CHECK(in == out);
  return tap.posted[core::FrameKind::kData] - before;
}

Settings with(SingleCopy single_copy) {
  Settings settings;
  settings.sm_single_copy = single_copy;
  return settings;
}

}  // namespace

TEST_CASE("a message of some 40 KB goes through a ring in three pieces") {
  Taps ring;
  Rig rig(2, {kind("self"), tapped("ring", ring, "sm")});
  const Large two(rig);
  rig.until([&] { return two.arrived(); });
  CHECK(two.is_whole());
  CHECK(ring[0].posted[core::FrameKind::kData] == 2 * 3);
}

TEST_CASE("a larger one goes as it is set, or either way at first") {
  const std::uint64_t in_pieces = kManyPieces / (16u << 10);
  for (const auto& [single_copy, first, then] :
       {std::tuple{SingleCopy::kNone, in_pieces, in_pieces},
        {SingleCopy::kCma, 0UL, 0UL},  // read with the offer
        {SingleCopy::kAuto, in_pieces, 0UL}}) {
    Taps ring;
    Rig rig(2, {kind("self"), tapped("ring", ring, "sm")}, 1, with(single_copy));
    const std::uint32_t series = core::CopyChoice::series_of(kManyPieces).length();
    for (std::uint32_t i = 0; i < 2 * series; ++i)
      CHECK(frames_of_one(rig, ring[0]) == (i < series ? first : then));
  }
}
