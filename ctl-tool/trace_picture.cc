// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/trace_picture.cc -- see trace_picture.h.
#include "ctl-tool/trace_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "control/ladder/outcome.h"
#include "ctl-tool/svg.h"
#include "ctl-tool/table.h"

namespace livebtl::tool {
namespace {

using control::PageView;
using control::Rung;
using control::RungRecord;
using control::SwitchRecord;

// In pixels.
constexpr double kEdge = 24, kLabels = 170, kPlot = 720, kRow = 22, kBar = 14, kLegend = 40,
                 kHeading = 26, kAxis = 44;
constexpr double kWidth = kEdge + kLabels + kPlot + 2 * kEdge;
constexpr double kBarLeast = 1.5;
constexpr std::size_t kRowsDrawn = 64;  // of a switch; the rest are counted
constexpr double kTicksMost = 8;

struct Row {
  const PageView* page;
  const SwitchRecord* record;

  std::uint64_t at(TimeNs since) const {
    return record->began_unix_ns + static_cast<std::uint64_t>(since);
  }
};

const char* colour_of_rung(Rung rung) {
  switch (rung) {
    case Rung::kJoint:
      return "#9cc9e8";
    case Rung::kNewTx:
      return "#1f5fbf";
    case Rung::kNew:
      return "#e09f3e";
    default:
      return "#7d8a97";
  }
}

std::string time_label(double milliseconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g ms", milliseconds);
  return text.data();
}

std::string bar_title(const RungRecord& rung) {
  std::string text = std::string(rung.undoing ? "back to " : "") + control::rung_name(rung.rung) +
                     ": " +
                     time_label(static_cast<double>(rung.reached_ns - rung.ordered_ns) / 1e6);
  if (!rung.reached) text += ", not reached";
  return rung.waited_for.empty() ? text : text + ", waited for " + rung.waited_for;
}

/// 1, 2 or 5 times a power of ten, so that at most kTicksMost steps fit.
double step_for(double span_ms) {
  const double least = span_ms / kTicksMost;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) return factor * power;
  }
  return 10 * power;
}

class Panel {
 public:
  Panel(const std::vector<PageView>& pages, const MergedSwitch& shown, double top)
      : pages_(pages), shown_(shown), top_(top) {
    for (const PageView& page : pages) {
      for (const SwitchRecord& record : page.switches) {
        if (record.operation == shown.what.operation && !record.rungs.empty())
          rows_.push_back({&page, &record});
      }
    }
    for (const Row& row : rows_) {
      begin_ns_ = std::min(begin_ns_, row.at(row.record->rungs.front().ordered_ns));
      end_ns_ = std::max(end_ns_, row.at(row.record->rungs.back().reached_ns));
    }
    span_ms_ = std::max(milliseconds(end_ns_), 1e-3);
  }

  double height() const {
    return kHeading + static_cast<double>(std::min(rows_.size(), kRowsDrawn)) * kRow + kAxis;
  }

  std::string text() {
    draw_title();
    draw_axis();
    for (std::size_t i = 0; i < std::min(rows_.size(), kRowsDrawn); ++i) draw_row(i);
    return body_;
  }

 private:
  double milliseconds(std::uint64_t at) const {
    return at < begin_ns_ ? 0 : static_cast<double>(at - begin_ns_) / 1e6;
  }
  static double left() { return kEdge + kLabels; }
  double x(double ms) const { return left() + kPlot * ms / span_ms_; }
  double bottom() const { return top_ + height() - kAxis; }

  void draw_title() {
    const std::size_t hidden = rows_.size() - std::min(rows_.size(), kRowsDrawn);
    body_ += svg_text(kEdge, top_ + 14,
                      title_of_switch(shown_.what, pages_) + ": " +
                          control::switch_end_name(shown_.what.end) + ", " +
                          time_label(shown_.milliseconds) +
                          (hidden > 0 ? " (" + std::to_string(hidden) + " processes more)" : ""),
                      "font-weight=\"bold\"");
  }

  void draw_axis() {
    const double step = step_for(span_ms_);
    for (double at = 0; at <= span_ms_ * 1.0001; at += step) {
      body_ += "<line x1=\"" + pixels(x(at)) + "\" y1=\"" + pixels(top_ + kHeading - 2) +
               "\" x2=\"" + pixels(x(at)) + "\" y2=\"" + pixels(bottom()) +
               "\" stroke=\"#d8dee4\"/>\n";
      body_ +=
          svg_text(x(at), bottom() + 16, time_label(at), "text-anchor=\"middle\" font-size=\"11\"");
    }
  }

  void draw_row(std::size_t index) {
    const Row& row = rows_[index];
    const double y = top_ + kHeading + static_cast<double>(index) * kRow;
    body_ += svg_text(left() - 8, y + 12, row.page->name, "text-anchor=\"end\"");
    for (const RungRecord& rung : row.record->rungs) draw_bar(row, rung, y);
    for (const control::LossView& loss : row.page->losses) draw_loss(loss, y);
  }

  void draw_bar(const Row& row, const RungRecord& rung, double y) {
    const double from = x(milliseconds(row.at(rung.ordered_ns)));
    const double to = x(milliseconds(row.at(rung.reached_ns)));
    body_ += "<rect x=\"" + pixels(from) + "\" y=\"" + pixels(y) + "\" width=\"" +
             pixels(std::max(to - from, kBarLeast)) + "\" height=\"" + pixels(kBar) + "\" fill=\"" +
             colour_of_rung(rung.rung) + "\"" + (rung.undoing ? " fill-opacity=\"0.4\"" : "") +
             (rung.reached ? "" : " stroke=\"#d1495b\" stroke-dasharray=\"4 3\"") + "><title>" +
             xml(bar_title(rung)) + "</title></rect>\n";
  }

  void draw_loss(const control::LossView& loss, double y) {
    const std::uint64_t at_ns = loss.unix_ms * std::uint64_t{kMillisecond};
    if (at_ns < begin_ns_ || at_ns > end_ns_) return;
    const double at = x(milliseconds(at_ns));
    body_ += "<circle cx=\"" + pixels(at) + "\" cy=\"" + pixels(y + kBar / 2) +
             "\" r=\"4\" fill=\"#d1495b\"><title>" +
             xml((loss.transport.empty() ? "peer lost" : "path lost: " + loss.transport) +
                 (loss.why.empty() ? "" : ", " + loss.why)) +
             "</title></circle>\n";
  }

  const std::vector<PageView>& pages_;
  const MergedSwitch& shown_;
  const double top_;
  std::vector<Row> rows_;
  std::uint64_t begin_ns_ = UINT64_MAX, end_ns_ = 0;
  double span_ms_ = 0;
  std::string body_;
};

std::string colours_named() {
  std::string body;
  double x = kEdge;
  for (const Rung rung : {Rung::kJoint, Rung::kNewTx, Rung::kNew, Rung::kOld}) {
    body += "<rect x=\"" + pixels(x) + "\" y=\"12\" width=\"14\" height=\"14\" fill=\"" +
            colour_of_rung(rung) + "\"/>\n" + svg_text(x + 20, 24, control::rung_name(rung));
    x += 84;
  }
  return body + svg_text(x, 24, "pale: on the way back; red: something was lost, or not reached");
}

}  // namespace

std::string picture_of_switches(const std::vector<PageView>& pages,
                                const std::vector<MergedSwitch>& switches) {
  std::string body = colours_named();
  double y = kLegend;
  for (const MergedSwitch& each : switches) {
    Panel panel(pages, each, y);
    body += panel.text();
    y += panel.height();
  }
  if (switches.empty()) {
    body += svg_text(kEdge, y + 14, "no switch is remembered");
    y += kHeading;
  }
  return svg_picture(kWidth, y, body);
}

}  // namespace livebtl::tool
