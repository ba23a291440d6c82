// SPDX-License-Identifier: BSD-3-Clause
// perf/chart.h -- lines in a frame with two logarithmic axes, as SVG. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace livebtl::perf {

struct Tick {
  double at = 0;
  std::string text;
};

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // both above 0
};

struct Chart {
  std::string title, x_title, y_title;
  std::vector<Tick> x_ticks;
  std::vector<Series> series;
};

/// Colours also differ in lightness, and dashes vary, for readers who cannot tell them all apart.
std::string svg_of(const Chart& chart);

}  // namespace livebtl::perf
