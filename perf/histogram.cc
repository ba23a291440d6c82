// SPDX-License-Identifier: BSD-3-Clause
// perf/histogram.cc -- see histogram.h.
#include "perf/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace livebtl::perf {

std::size_t Histogram::bucket_of(std::uint64_t value) noexcept {
  const auto bits = static_cast<unsigned>(std::bit_width(value));
  if (bits <= kPrecisionBits + 1) return static_cast<std::size_t>(value);
  const unsigned shift = bits - kPrecisionBits - 1;
  return shift * kHalf + static_cast<std::size_t>(value >> shift);
}

Histogram::Bucket Histogram::bounds_of(std::size_t bucket) noexcept {
  const std::size_t shift = bucket < 2 * kHalf ? 0 : bucket / kHalf - 1;
  const std::size_t lead = bucket - shift * kHalf;
  const double width = std::ldexp(1.0, static_cast<int>(shift));
  return {static_cast<double>(lead) * width, static_cast<double>(lead + 1) * width, 0};
}

double Histogram::mean() const noexcept {
  return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

double Histogram::percentile(double percent) const noexcept {
  if (count_ == 0) return 0;
  // In this order 99.9 % of 1,000 is 999, and not slightly more.
  const double wanted = std::ceil(percent * static_cast<double>(count_) / 100);
  const auto rank = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted));
  std::uint64_t passed = 0;
  for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
    passed += counts_[bucket];
    if (passed < rank) continue;
    const Bucket bounds = bounds_of(bucket);
    // A bucket of one value is that value.
    const double middle = (bounds.from + bounds.to - 1) / 2;
    return std::clamp(middle, least(), most());
  }
  return most();
}

std::vector<Histogram::Bucket> Histogram::buckets() const {
  std::vector<Bucket> found;
  for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
    if (counts_[bucket] == 0) continue;
    found.push_back(bounds_of(bucket));
    found.back().count = counts_[bucket];
  }
  return found;
}

}  // namespace livebtl::perf
