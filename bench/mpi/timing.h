// SPDX-License-Identifier: BSD-3-Clause
// bench/mpi/timing.h -- the clock, and the median of pieces.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace perf {

/// Per measurement; the median of the pieces leaves out interruptions.
inline constexpr std::uint64_t kPieces = 50;

inline std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

inline std::int64_t median(std::vector<std::int64_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Returns the nanoseconds of one `step`, from `rounds` steps in pieces.
template <class Step>
double median_ns(std::uint64_t rounds, Step step) {
  const std::uint64_t piece = std::max<std::uint64_t>(1, rounds / kPieces);
  for (std::uint64_t i = 0; i < piece + 2; ++i) step();
  std::vector<std::int64_t> times;
  for (std::uint64_t done = 0; done < rounds; done += piece) {
    const std::int64_t start = now_ns();
    for (std::uint64_t i = 0; i < piece; ++i) step();
    times.push_back(now_ns() - start);
  }
  return static_cast<double>(median(times)) / static_cast<double>(piece);
}

}  // namespace perf
