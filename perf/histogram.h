// SPDX-License-Identifier: BSD-3-Clause
// perf/histogram.h -- a distribution of times in memory of a fixed size: buckets whose width grows
// with the value, so that each is at most 0.8 % wide. Pure; adding allocates nothing. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"

namespace livebtl::perf {

class Histogram {
 public:
  Histogram() : counts_(kBuckets) {}

  /// time: counts as 0 if below 0.
  void add(TimeNs time) noexcept {
    const auto value = static_cast<std::uint64_t>(time < 0 ? 0 : time);
    ++counts_[bucket_of(value)];
    ++count_;
    sum_ += value;
    least_ = value < least_ ? value : least_;
    most_ = value > most_ ? value : most_;
  }

  std::uint64_t count() const noexcept { return count_; }
  // 0 if empty.
  double mean() const noexcept;
  double least() const noexcept { return count_ == 0 ? 0 : static_cast<double>(least_); }
  double most() const noexcept { return static_cast<double>(most_); }
  /// By nearest rank: the middle of its bucket, but never beyond least() and most().
  /// percent: [0..100].
  double percentile(double percent) const noexcept;

  struct Bucket {
    double from = 0, to = 0;  // to: exclusive
    std::uint64_t count = 0;
  };
  /// The buckets that are not empty, lowest first.
  std::vector<Bucket> buckets() const;

 private:
  static constexpr unsigned kPrecisionBits = 7;  // 128 buckets between a power of two and the next
  static constexpr std::size_t kHalf = std::size_t{1} << kPrecisionBits;
  static constexpr std::size_t kBuckets = (64 - kPrecisionBits + 1) * kHalf;

  static std::size_t bucket_of(std::uint64_t value) noexcept;
  static Bucket bounds_of(std::size_t bucket) noexcept;

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0, sum_ = 0, least_ = UINT64_MAX, most_ = 0;
};

}  // namespace livebtl::perf
