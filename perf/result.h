// SPDX-License-Identifier: BSD-3-Clause
// perf/result.h -- the results: values for the table, the JSON document and the picture. Pure.
#pragma once

#include <string>
#include <vector>

#include "perf/histogram.h"
#include "perf/line.h"

namespace livebtl::perf {

/// One size over one transport, or through switches.
struct Figure {
  std::size_t bytes = 0;
  std::string over;  // the transport; through switches: both, as in "sm+tcp"
  bool switching = false;
  std::uint64_t window = 1;
  Histogram times;     // of round trips, windows, or windows of operations, ns
  TimeNs elapsed = 0;  // their sum
  std::uint32_t switches = 0;
  Histogram longest_times;  // of each switch
};

struct Results {
  Line line;
  double clock_ns = 0;  // of a reading of the clock; each time contains one
  std::vector<Figure> figures;
};

/// What a time is divided by to be shown: latency is half a round trip.
double shown_part(Test test) noexcept;
/// In us, as shown.
double shown_us(Test test, double time_ns) noexcept;
double messages_per_second(Test test, const Figure& figure) noexcept;
/// MB/s (10^6), both ways together.
double megabytes_per_second(Test test, const Figure& figure) noexcept;

struct Percentile {
  double percent;
  const char* title;  // of the table
  const char* key;    // in JSON
};
inline constexpr std::array<Percentile, 4> kPercentiles{
    {{50, "p50", "p50"}, {90, "p90", "p90"}, {99, "p99", "p99"}, {99.9, "p99.9", "p99_9"}}};

}  // namespace livebtl::perf
