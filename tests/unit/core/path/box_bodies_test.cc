// SPDX-License-Identifier: BSD-3-Clause
// Where bodies of boxed messages lie: never overlapping, never outside, and always somewhere once
// all are taken.
#include "core/path/box_bodies.h"

#include <doctest/doctest.h>

#include <deque>
#include <limits>

#include "base/random.h"

using namespace livebtl;
using namespace livebtl::core;

namespace {

struct Placed {
  std::uint64_t seq;
  std::uint32_t offset;
  std::size_t bytes;
};

bool overlap(const Placed& one, const Placed& other) {
  return one.offset < other.offset + other.bytes && other.offset < one.offset + one.bytes;
}

}  // namespace

TEST_CASE("no body lies on another that has not been taken") {
  Random random(7);
  BoxBodies bodies;
  std::deque<Placed> there;  // not yet taken
  std::uint64_t taken = 1, refused = 0;
  for (std::uint64_t seq = 1; seq < 200'000; ++seq) {
    const std::size_t bytes = 1 + random.below(seq % 3 == 0 ? kBoxBodyBytesMax : std::size_t{200});
    const std::uint32_t offset = bodies.place(bytes, seq, taken);
    if (offset == BoxBodies::kNone) {
      ++refused;  // goes another way
    } else {
      const Placed placed{seq, offset, bytes};
      REQUIRE((BoxBody{offset, static_cast<std::uint32_t>(bytes)}.within_area()));
      for (const Placed& each : there) REQUIRE_FALSE(overlap(placed, each));
      there.push_back(placed);
    }
    if (random.below(10) == 0) taken += random.below(seq + 2 - taken);
    while (!there.empty() && there.front().seq < taken) there.pop_front();
  }
  CHECK(refused > 1000);
}

TEST_CASE("when all has been taken there is room for the largest") {
  BoxBodies bodies;
  for (std::uint64_t seq = 1; seq < 1000; ++seq)
    CHECK(bodies.place(kBoxBodyBytesMax, seq, seq) != BoxBodies::kNone);
}

TEST_CASE("an area of which nothing is taken fills up, and is used again part by part") {
  BoxBodies bodies;
  std::uint64_t seq = 1;
  while (bodies.place(kBoxBodyBytesMax, seq, 1) != BoxBodies::kNone) ++seq;
  const std::uint64_t placed = seq - 1;
  CHECK(placed == kBoxAreaBytes / kBoxBodyBytesMax);
  const std::uint64_t a_part = placed / BoxBodies::kParts;
  CHECK(bodies.place(1, seq, a_part) == BoxBodies::kNone);  // the first part's last is not taken
  CHECK(bodies.place(1, seq, a_part + 1) == 0);
}

TEST_CASE("a body that another process names is within the area, or is none") {
  const auto within = [](std::uint64_t offset, std::uint64_t bytes) {
    return BoxBody{static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(bytes)}
        .within_area();
  };
  CHECK(within(kBoxAreaBytes - kBoxBodyBytesMax, kBoxBodyBytesMax));
  CHECK(within(kBoxAreaBytes - 1, 1));
  CHECK(within(kBoxAreaBytes, 0));
  CHECK_FALSE(within(kBoxAreaBytes, 1));
  CHECK_FALSE(within(kBoxAreaBytes - kBoxBodyBytesMax + 1, kBoxBodyBytesMax));
  CHECK_FALSE(within(0, kBoxBodyBytesMax + 1));
  constexpr auto kMost = std::numeric_limits<std::uint32_t>::max();
  CHECK_FALSE(within(kMost, 1));
  CHECK_FALSE(within(0, kMost));
  CHECK_FALSE(within(kMost, kMost));
}
