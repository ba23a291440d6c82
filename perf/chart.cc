// SPDX-License-Identifier: BSD-3-Clause
// perf/chart.cc -- see chart.h.
#include "perf/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "perf/units.h"

namespace livebtl::perf {
namespace {

// In pixels.
constexpr double kWidth = 860, kHeight = 520, kLeft = 80, kRight = 200, kTop = 50, kBottom = 70;
struct Style {
  const char* colour;
  const char* dashes;
};
constexpr std::array<Style, 6> kStyles{{{"#1b4f8f", "none"},
                                        {"#d1731b", "none"},
                                        {"#2a8a5b", "7 3"},
                                        {"#b8285a", "7 3"},
                                        {"#6b6b6b", "2 3"},
                                        {"#8a5fc7", "2 3"}}};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += static_cast<unsigned char>(c) < ' ' ? '?' : c;
  }
  return out;
}

std::string pixels(double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

/// An axis: maps values to pixels.
class Axis {
 public:
  Axis(double least, double most, double from, double to)
      : low_(std::log10(least)),
        span_(std::max(std::log10(most) - low_, 1e-9)),
        from_(from),
        to_(to) {}
  double at(double value) const {
    return from_ + (std::log10(value) - low_) / span_ * (to_ - from_);
  }

 private:
  double low_, span_, from_, to_;
};

std::string text_at(double x, double y, const std::string& text, const char* anchor,
                    const char* more = "") {
  return "<text x=\"" + pixels(x) + "\" y=\"" + pixels(y) + "\" text-anchor=\"" + anchor + "\"" +
         more + ">" + escaped(text) + "</text>\n";
}

std::string rule(double x1, double y1, double x2, double y2) {
  return "<line x1=\"" + pixels(x1) + "\" y1=\"" + pixels(y1) + "\" x2=\"" + pixels(x2) +
         "\" y2=\"" + pixels(y2) + "\" stroke=\"#ddd\"/>\n";
}

/// 1, 2 and 5 times each power of ten; the powers alone if that is too many.
std::vector<double> round_values(double least, double most) {
  std::vector<double> values;
  const bool few = most / least < 1000;
  for (double power = std::pow(10, std::floor(std::log10(least))); power <= most; power *= 10) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = power * factor;
      if (value >= least && value <= most && (few || factor == 1.0)) values.push_back(value);
    }
  }
  return values;
}

struct Range {
  double least = 1e300, most = 1e-300;
  void take(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

std::string curve(const Series& series, const Style& style, const Axis& x, const Axis& y) {
  std::string points;
  for (const auto& [across, up] : series.points)
    points += pixels(x.at(across)) + "," + pixels(y.at(up)) + " ";
  return std::string("<polyline fill=\"none\" stroke-width=\"2\" stroke=\"") + style.colour +
         "\" stroke-dasharray=\"" + style.dashes + "\" points=\"" + points + "\"/>\n";
}

std::string legend(std::size_t line, const std::string& name, const Style& style) {
  const double x = kWidth - kRight + 12, y = kTop + 16 + 20 * static_cast<double>(line);
  return std::string("<line stroke-width=\"2\" stroke=\"") + style.colour +
         "\" stroke-dasharray=\"" + style.dashes + "\" x1=\"" + pixels(x) + "\" x2=\"" +
         pixels(x + 30) + "\" y1=\"" + pixels(y - 4) + "\" y2=\"" + pixels(y - 4) + "\"/>\n" +
         text_at(x + 36, y, name, "start");
}

std::string frame(const Chart& chart, const Axis& x, const Axis& y, const Range& up) {
  const double bottom = kHeight - kBottom, right = kWidth - kRight;
  std::string svg;
  for (const Tick& tick : chart.x_ticks)
    svg += rule(x.at(tick.at), kTop, x.at(tick.at), bottom) +
           text_at(x.at(tick.at), bottom + 18, tick.text, "middle");
  for (const double value : round_values(up.least, up.most))
    svg += rule(kLeft, y.at(value), right, y.at(value)) +
           text_at(kLeft - 6, y.at(value) + 4, short_number(value), "end");
  svg += text_at((kLeft + right) / 2, kHeight - 24, chart.x_title, "middle");
  svg += text_at(kLeft, kTop - 24, chart.title, "start", " font-weight=\"bold\"");
  return svg + text_at(kLeft, kTop - 8, chart.y_title, "start");
}

}  // namespace

std::string svg_of(const Chart& chart) {
  Range across, up;
  for (const Tick& tick : chart.x_ticks) across.take(tick.at);
  for (const Series& series : chart.series) {
    for (const auto& [one, other] : series.points) {
      across.take(one);
      up.take(other);
    }
  }
  up.least *= 0.9;
  up.most *= 1.1;
  const Axis x(across.least, across.most, kLeft, kWidth - kRight),
      y(up.least, up.most, kHeight - kBottom, kTop);
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + pixels(kWidth) +
                    " " + pixels(kHeight) + "\" font-family=\"sans-serif\" font-size=\"12\">\n" +
                    "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" +
                    frame(chart, x, y, up);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const Style& style = kStyles[i % kStyles.size()];
    svg += curve(chart.series[i], style, x, y) + legend(i, chart.series[i].name, style);
  }
  return svg + "</svg>\n";
}

}  // namespace livebtl::perf
