// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/lane/unplaced_test.cc -- of a fragment, exactly the bytes that no path reads into
// place are found.
#include "core/lane/unplaced.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/random.h"

using namespace livebtl;
using core::first_unplaced;
using core::Stretch;

namespace {

struct Placing {
  std::uint64_t placing = 0, placing_begin = 0, placing_end = 0;
};
using Placings = std::vector<std::unique_ptr<Placing>>;

std::vector<bool> found_in(const Placings& paths, Stretch of) {
  std::vector<bool> found(64);
  for (std::uint64_t at = of.begin; at < of.end;) {
    const Stretch its = first_unplaced(paths, 7, {at, of.end});
    if (its.begin == its.end) break;
    CHECK(its.begin >= at);
    std::fill(found.begin() + static_cast<long>(its.begin),
              found.begin() + static_cast<long>(its.end), true);
    at = its.end;
  }
  return found;
}

}  // namespace

TEST_CASE("stretches that nobody places are what a table of bytes says") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    Placings paths;
    std::vector<bool> wanted(64);
    const std::uint64_t begin = random.below(60), end = begin + 1 + random.below(64 - begin);
    std::fill(wanted.begin() + static_cast<long>(begin), wanted.begin() + static_cast<long>(end),
              true);
    for (std::uint64_t i = random.below(4); i != 0; --i) {
      const std::uint64_t from = random.below(60), to = from + 1 + random.below(64 - from);
      const bool same = random.below(3) != 0;
      paths.push_back(std::make_unique<Placing>(Placing{same ? 7u : 8u, from, to}));
      if (same)
        std::fill(wanted.begin() + static_cast<long>(from), wanted.begin() + static_cast<long>(to),
                  false);
    }
    CAPTURE(seed);
    CHECK(found_in(paths, {begin, end}) == wanted);
  }
}
