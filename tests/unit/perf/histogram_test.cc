// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/perf/histogram_test.cc -- percentiles match the values, within a bucket's width.
#include "perf/histogram.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace livebtl;
using namespace livebtl::perf;

TEST_CASE("an empty histogram is all zeros") {
  const Histogram none;
  CHECK(none.count() == 0);
  CHECK(none.mean() == 0);
  CHECK(none.least() == 0);
  CHECK(none.most() == 0);
  CHECK(none.percentile(50) == 0);
  CHECK(none.buckets().empty());
}

TEST_CASE("small values are exact") {
  Histogram times;
  for (int i = 1; i <= 200; ++i) times.add(i);
  CHECK(times.percentile(50) == 100);
  CHECK(times.percentile(99) == 198);
  CHECK(times.percentile(0) == 1);
  CHECK(times.percentile(100) == 200);
  CHECK(times.mean() == doctest::Approx(100.5));
  CHECK(times.buckets().size() == 200);
}

TEST_CASE("one in a thousand is not 99.9 %") {
  Histogram times;
  for (int i = 0; i < 999; ++i) times.add(1);
  times.add(100);
  CHECK(times.percentile(99.9) == 1);
  CHECK(times.percentile(99.91) == 100);
}

TEST_CASE("percentiles of any values are within 0.8 % of those by sorting") {
  std::mt19937_64 random(7);
  std::vector<TimeNs> sorted;
  Histogram times;
  for (int i = 0; i < 20'000; ++i) {
    const double drawn = std::exp(std::uniform_real_distribution<double>(0, 30)(random));
    sorted.push_back(static_cast<TimeNs>(drawn));
    times.add(sorted.back());
  }
  std::sort(sorted.begin(), sorted.end());
  for (const double percent : {1.0, 50.0, 90.0, 99.0, 99.9, 100.0}) {
    const auto rank = static_cast<std::size_t>(std::ceil(percent * 20'000 / 100));
    const auto exact = static_cast<double>(sorted[rank - 1]);
    CHECK(std::abs(times.percentile(percent) - exact) <= 0.008 * exact);
  }
  CHECK(times.most() == static_cast<double>(sorted.back()));
  CHECK(times.least() == static_cast<double>(sorted.front()));
}

TEST_CASE("buckets hold everything once, do not overlap, and the longest time has one") {
  Histogram times;
  times.add(std::numeric_limits<TimeNs>::max());
  times.add(-5);
  for (TimeNs each = 1; each < kSecond; each = each * 3 / 2 + 1) times.add(each);
  std::uint64_t all = 0;
  double end = 0;
  for (const auto& bucket : times.buckets()) {
    CHECK(bucket.from >= end);
    CHECK(bucket.to > bucket.from);
    end = bucket.to;
    all += bucket.count;
  }
  CHECK(all == times.count());
  CHECK(times.least() == 0);
}
