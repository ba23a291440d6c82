// SPDX-License-Identifier: BSD-3-Clause
// perf/report.cc -- report.h: for people.
#include "perf/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

#include "perf/units.h"

namespace livebtl::perf {
namespace {

constexpr std::size_t kBytesWidth = 9, kOverWidth = 18, kNumberWidth = 10;
constexpr std::size_t kBarWidth = 50;
constexpr std::size_t kBarsMax = 24;

std::string right(const std::string& text, std::size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

std::string left(const std::string& text, std::size_t width) {
  return text + std::string(width > text.size() ? width - text.size() : 0, ' ');
}

std::string column(double value) { return right(short_number(value), kNumberWidth); }

std::string time_text(TimeNs time) {
  return time % kMillisecond == 0 ? std::to_string(time / kMillisecond) + " ms"
                                  : std::to_string(time / kMicrosecond) + " us";
}

std::string switches_text(const Line& line, const Figure& figure) {
  const auto us = [](double ns) { return short_number(ns / 1e3); };
  return right("", kBytesWidth) + "  " + std::to_string(figure.switches) + " switches, one every " +
         time_text(line.switch_every) + " and its own time; the longest " +
         (is_stream(line.test) ? "window" : "round") + " of each: p50 " +
         us(figure.longest_times.percentile(50)) + ", max " + us(figure.longest_times.most()) +
         " us; nothing lost, repeated or reordered\n";
}

/// Divides the times into bars: `per_octave` between a time and its double.
std::map<int, std::uint64_t> bars_of(const Figure& figure, double part, int per_octave) {
  std::map<int, std::uint64_t> bars;
  for (const auto& bucket : figure.times.buckets()) {
    const double middle = std::max((bucket.from + bucket.to) / 2 / part, 0.5);
    bars[static_cast<int>(std::floor(std::log2(middle) * per_octave))] += bucket.count;
  }
  return bars;
}

std::size_t range_of(const std::map<int, std::uint64_t>& bars) {
  return bars.empty() ? 0
                      : static_cast<std::size_t>(bars.rbegin()->first - bars.begin()->first) + 1;
}

std::string bar_line(double from_us, std::uint64_t count, std::uint64_t most, std::uint64_t all) {
  const double share = static_cast<double>(count) / static_cast<double>(all);
  const double length = static_cast<double>(count) / static_cast<double>(most) * double{kBarWidth};
  std::array<char, 64> numbers{};
  std::snprintf(numbers.data(), numbers.size(), "%10llu  %5.1f %%",
                static_cast<unsigned long long>(count), share * 100);
  // Any count above 0 has a mark.
  const std::size_t marks =
      count == 0 ? 0 : std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(length)));
  return right(short_number(from_us), kNumberWidth) + " us " +
         left(std::string(marks, '#'), kBarWidth) + numbers.data() + "\n";
}

}  // namespace

std::string table_head(const Line& line, double clock_ns) {
  std::string text =
      std::string("btlperf ") + info_of(line.test).name + ": " + info_of(line.test).measures;
  const bool windows = is_stream(line.test) || line.window_for() > 1;
  if (windows)
    text +=
        "; windows of " + std::to_string(line.window_for()) + ", times are those of a window, us";
  text += std::string("\n") + (line.check ? "Every byte is compared. " : "") +
          "Each time contains one reading of the clock (" + short_number(clock_ns) + " ns).\n";
  text += right("bytes", kBytesWidth) + "  " + left("over", kOverWidth);
  if (windows) text += right("MB/s", kNumberWidth) + right("msg/s", kNumberWidth + 2);
  text += right("mean", kNumberWidth);
  for (const Percentile& each : kPercentiles) text += right(each.title, kNumberWidth);
  return text + right("max", kNumberWidth) + "\n";
}

std::string table_row(const Line& line, const Figure& figure) {
  const auto us = [&line](double ns) { return column(shown_us(line.test, ns)); };
  std::string text = right(std::to_string(figure.bytes), kBytesWidth) + "  " +
                     left(figure.switching ? figure.over + " *" : figure.over, kOverWidth);
  if (is_stream(line.test) || line.window_for() > 1)
    text += column(megabytes_per_second(line.test, figure)) +
            right(std::to_string(std::llround(messages_per_second(line.test, figure))),
                  kNumberWidth + 2);
  text += us(figure.times.mean());
  for (const Percentile& each : kPercentiles) text += us(figure.times.percentile(each.percent));
  text += us(figure.times.most()) + "\n";
  return figure.switching ? text + switches_text(line, figure) : text;
}

std::string histogram_text(const Line& line, const Figure& figure) {
  const double part = shown_part(line.test);
  int per_octave = 8;
  auto bars = bars_of(figure, part, per_octave);
  for (; range_of(bars) > kBarsMax && per_octave > 1; bars = bars_of(figure, part, per_octave))
    per_octave /= 2;
  std::uint64_t most = 1;
  for (const auto& [bar, count] : bars) most = std::max(most, count);
  std::string text;
  int before = bars.empty() ? 0 : bars.begin()->first;
  for (const auto& [bar, count] : bars) {
    if (bar > before + 1) text += right("...", kNumberWidth) + "\n";
    text += bar_line(std::exp2(static_cast<double>(bar) / per_octave) / 1e3, count, most,
                     figure.times.count());
    before = bar;
  }
  return text;
}

}  // namespace livebtl::perf
