// SPDX-License-Identifier: BSD-3-Clause
// perf/result.cc -- see result.h.
#include "perf/result.h"

namespace livebtl::perf {
namespace {

/// In one time: a window's, or a round trip's two.
double messages_in(Test test, const Figure& figure) noexcept {
  const auto window = static_cast<double>(figure.window);
  return test == Test::kLatency || test == Test::kBidirectional ? 2 * window : window;
}

double seconds_in(const Figure& figure) noexcept {
  return static_cast<double>(figure.elapsed) / 1e9;
}

}  // namespace

double shown_part(Test test) noexcept { return test == Test::kLatency ? 2 : 1; }

double shown_us(Test test, double time_ns) noexcept { return time_ns / shown_part(test) / 1e3; }

double messages_per_second(Test test, const Figure& figure) noexcept {
  if (figure.elapsed == 0) return 0;
  return static_cast<double>(figure.times.count()) * messages_in(test, figure) / seconds_in(figure);
}

double megabytes_per_second(Test test, const Figure& figure) noexcept {
  return messages_per_second(test, figure) * static_cast<double>(figure.bytes) / 1e6;
}

}  // namespace livebtl::perf
