// SPDX-License-Identifier: BSD-3-Clause
// perf/plot.cc -- see plot.h: which lines there are, and what the axes say.
#include "perf/plot.h"

#include <algorithm>
#include <map>

#include "perf/chart.h"
#include "perf/units.h"

namespace livebtl::perf {
namespace {

/// Where a percentile is: each further nine takes as much room as the one before.
double place_of(double percent) { return 100 / (100 - percent); }

constexpr double kLastPercent = 99.99;

std::string name_of(const Figure& figure) {
  return figure.over + (figure.switching ? ", switched" : "");
}

Chart distribution(const Results& results) {
  Chart chart;
  chart.x_title = "percentile";
  chart.y_title = "us";
  chart.x_ticks = {{place_of(0), "0"},       {place_of(50), "50"},
                   {place_of(90), "90"},     {place_of(99), "99"},
                   {place_of(99.9), "99.9"}, {place_of(kLastPercent), "99.99"}};
  for (const Figure& figure : results.figures) {
    Series series{name_of(figure), {}};
    for (double place = 1; place <= place_of(kLastPercent); place *= 1.05) {
      const double us = shown_us(results.line.test, figure.times.percentile(100 - 100 / place));
      series.points.emplace_back(place, std::max(us, 1e-3));
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

/// A line through one value of each size.
template <class Value>
void add_by_size(Chart& chart, const Results& results, const std::string& suffix, Value value) {
  std::map<std::string, Series> lines;
  for (const Figure& figure : results.figures) {
    Series& series = lines[name_of(figure)];
    series.name = name_of(figure) + suffix;
    series.points.emplace_back(std::max(static_cast<double>(figure.bytes), 1.0),
                               std::max(value(figure), 1e-3));
  }
  for (auto& [name, series] : lines) chart.series.push_back(std::move(series));
}

Chart by_size(const Results& results) {
  const Test test = results.line.test;
  Chart chart;
  chart.x_title = "bytes";
  for (std::size_t size = 1; size <= kMessageBytesMax; size *= 16) {
    const auto [least, most] =
        std::minmax_element(results.line.sizes.begin(), results.line.sizes.end());
    if (size * 16 > *least && size <= *most)
      chart.x_ticks.push_back({static_cast<double>(size), size_text(size)});
  }
  if (is_stream(test)) {
    chart.y_title = "MB/s";
    add_by_size(chart, results, "",
                [test](const Figure& each) { return megabytes_per_second(test, each); });
    return chart;
  }
  chart.y_title = "us";
  for (const double percent : {50.0, 99.0})
    add_by_size(chart, results, percent < 90 ? ", p50" : ", p99",
                [test, percent](const Figure& each) {
                  return shown_us(test, each.times.percentile(percent));
                });
  return chart;
}

}  // namespace

std::string plot_of(const Results& results) {
  const bool one = results.line.sizes.size() == 1;
  Chart chart = one ? distribution(results) : by_size(results);
  chart.title = std::string("btlperf ") + info_of(results.line.test).name +
                (one ? " of " + size_text(results.line.sizes.front()) : "") + ": " +
                info_of(results.line.test).measures;
  return svg_of(chart);
}

}  // namespace livebtl::perf
