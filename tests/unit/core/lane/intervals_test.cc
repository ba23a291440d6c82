// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/lane/intervals_test.cc -- bytes count once, however often and in whatever pieces
// they arrive.
#include "core/lane/intervals.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

using namespace livebtl;
using namespace livebtl::core;

TEST_CASE("intervals count what a table of bytes counts") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const std::uint64_t size = 1 + random.below(400);
    std::vector<bool> model(size);
    Intervals intervals;
    for (int round = 0; round < 120; ++round) {
      const std::uint64_t offset = random.below(size + 1);
      const std::uint64_t length = std::min(size - offset, random.below(1 + size / 4));
      bool any = false;
      for (std::uint64_t i = offset; i < offset + length; ++i) any = any || model[i];
      REQUIRE(intervals.touches(offset, length) == any);
      std::uint64_t fresh = 0;
      for (std::uint64_t i = offset; i < offset + length; ++i) {
        fresh += model[i] ? 0 : 1;
        model[i] = true;
      }
      REQUIRE(intervals.add(offset, length) == fresh);
      const auto first_hole = std::find(model.begin(), model.end(), false) - model.begin();
      REQUIRE(intervals.prefix() == static_cast<std::uint64_t>(first_hole));
      REQUIRE(intervals.covered() ==
              static_cast<std::uint64_t>(std::count(model.begin(), model.end(), true)));
    }
  }
}

TEST_CASE("in-order arrival is all prefix") {
  Intervals intervals;
  for (std::uint64_t offset = 0; offset < 4096; offset += 64) {
    CHECK(intervals.add(offset, 64) == 64);
    CHECK(intervals.prefix() == offset + 64);
  }
  CHECK(intervals.add(0, 4096) == 0);
}

TEST_CASE("a whole second attempt over scattered pieces adds only the holes") {
  Intervals intervals;
  for (std::uint64_t offset = 100; offset < 1000; offset += 200) intervals.add(offset, 100);
  CHECK(intervals.covered() == 500);
  CHECK(intervals.prefix() == 0);
  CHECK(intervals.add(0, 1000) == 500);
  CHECK(intervals.prefix() == 1000);
}

TEST_CASE("offsets near 2^64 do not overflow") {
  Intervals intervals;
  CHECK(intervals.add(~std::uint64_t{0} - 10, 10) == 10);
  CHECK(intervals.add(~std::uint64_t{0} - 10, 10) == 0);
  CHECK(intervals.add(0, ~std::uint64_t{0}) == ~std::uint64_t{0} - 10);
  CHECK(intervals.prefix() == ~std::uint64_t{0});
}

TEST_CASE("an empty message covers nothing and is complete") {
  Intervals intervals;
  CHECK(intervals.add(0, 0) == 0);
  CHECK(intervals.add(5, 0) == 0);
  CHECK(intervals.covered() == 0);
  CHECK(intervals.prefix() == 0);
}
