// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/topology_picture.cc -- see topology_picture.h.
#include "ctl-tool/topology_picture.h"

#include <cmath>
#include <map>

#include "ctl-tool/svg.h"

namespace livebtl::tool {
namespace {

// In pixels.
constexpr double kRadius = 22, kCell = 96, kPad = 34, kGap = 90, kHead = 78, kTitle = 34;
constexpr std::size_t kProcessesDrawn = 64;  // of a node; the rest are counted

struct Place {
  double x = 0, y = 0;
  bool drawn = false;
};
struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};

std::size_t columns_for(std::size_t count) {
  return std::max<std::size_t>(
      1, static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(count)))));
}

/// One for each transport in use, in the order of their names.
std::map<std::string, std::string> colours_of(const Topology& topology) {
  constexpr const char* kColours[] = {"#0b6e4f", "#d1495b", "#1f5fbf", "#e09f3e",
                                      "#6a4c93", "#2a9d8f", "#7d5a3c", "#444444"};
  std::map<std::string, std::string> colours;
  for (const auto& link : topology.links) {
    colours.emplace(link.transport, "");
    if (!link.back.empty()) colours.emplace(link.back, "");
  }
  std::size_t next = 0;
  for (auto& [name, colour] : colours) colour = kColours[next++ % std::size(kColours)];
  return colours;
}

class Picture {
 public:
  explicit Picture(const Topology& topology)
      : topology_(topology), colours_(colours_of(topology)), places_(topology.processes.size()) {
    lay_out();
  }

  std::string text() {
    draw_title();
    for (std::size_t i = 0; i < boxes_.size(); ++i) draw_node(i);
    for (const auto& link : topology_.links) draw(link);
    for (std::size_t i = 0; i < places_.size(); ++i) draw_process(i);
    draw_missing();
    return svg_picture(width_, height_, body_);
  }

 private:
  /// A zigzag, so that no line runs through a third process of its row.
  Box lay_out_node(const std::vector<std::size_t>& members, double x, double y) {
    const std::size_t shown = std::min(members.size(), kProcessesDrawn);
    const std::size_t wide = columns_for(shown), high = (shown + wide - 1) / wide;
    for (std::size_t k = 0; k < shown; ++k) {
      const double shift = k / wide % 2 == 0 ? 0.0 : kCell / 5;
      const double drop = k % wide % 2 == 0 ? 0.0 : kCell / 6;
      const std::size_t row = k / wide;
      places_[members[k]] = {x + kPad + kRadius + shift + static_cast<double>(k % wide) * kCell,
                             y + kTitle + kRadius + 8 + drop + static_cast<double>(row) * kCell,
                             true};
    }
    return {x, y, std::max(static_cast<double>(wide) * kCell + kPad, 200.0),
            static_cast<double>(high) * kCell + kTitle};
  }

  void lay_out() {
    const std::size_t columns = columns_for(topology_.nodes.size());
    double x = kPad, y = kHead, tallest = 0, bottom = kHead;
    for (std::size_t i = 0; i < topology_.nodes.size(); ++i) {
      const Box box = lay_out_node(topology_.nodes[i].processes, x, y);
      boxes_.push_back(box);
      tallest = std::max(tallest, box.height);
      bottom = std::max(bottom, box.y + box.height);
      width_ = std::max(width_, x + box.width + kPad);
      x += box.width + kGap;
      if ((i + 1) % columns == 0) {
        x = kPad;
        y += tallest + kGap;
        tallest = 0;
      }
    }
    missing_y_ = bottom + kPad;
    height_ = missing_y_ + (topology_.missing_count > 0 ? kCell : 0);
    width_ = std::max(width_, 460.0);
  }

  void write(double x, double y, const std::string& text, const std::string& more = "") {
    body_ += svg_text(x, y, text, more);
  }

  void draw_title() {
    write(kPad, 26,
          "job " + topology_.job + ": " +
              counted(topology_.processes.size(), "process", "processes") + " on " +
              counted(topology_.nodes.size(), "node", "nodes"),
          "font-size=\"16\" font-weight=\"bold\"");
    double x = kPad;
    for (const auto& [name, colour] : colours_) {
      const auto pairs = std::ranges::count(topology_.links, name, &Topology::Link::transport);
      const std::string text =
          name + ": " + counted(static_cast<std::uint64_t>(pairs), "pair", "pairs");
      body_ += "<line x1=\"" + pixels(x) + "\" y1=\"52\" x2=\"" + pixels(x + 28) +
               "\" y2=\"52\" stroke=\"" + colour + "\" stroke-width=\"4\"/>\n";
      write(x + 34, 57, text);
      x += 60 + 8.0 * static_cast<double>(text.size());
      width_ = std::max(width_, x);
    }
  }

  void draw_node(std::size_t index) {
    const auto& node = topology_.nodes[index];
    const Box& box = boxes_[index];
    body_ += "<rect x=\"" + pixels(box.x) + "\" y=\"" + pixels(box.y) + "\" width=\"" +
             pixels(box.width) + "\" height=\"" + pixels(box.height) +
             "\" rx=\"10\" fill=\"#f4f6f8\" stroke=\"#9aa5b1\"/>\n";
    const std::size_t hidden =
        node.processes.size() - std::min(node.processes.size(), kProcessesDrawn);
    write(box.x + 12, box.y + 22,
          node.host + (hidden > 0 ? " (and " + std::to_string(hidden) + " more)" : ""),
          "font-weight=\"bold\"");
  }

  void draw(const Topology::Link& link) {
    const Place &from = places_[link.one], &to = places_[link.other];
    if (!from.drawn || !to.drawn) return;
    const bool differs = !link.back.empty() && link.back != link.transport;
    const Place middle{(from.x + to.x) / 2, (from.y + to.y) / 2, true};
    draw_line(from, differs ? middle : to, link.transport, differs);
    if (differs) draw_line(to, middle, link.back, differs);
  }

  void draw_line(const Place& from, const Place& to, const std::string& transport, bool moving) {
    body_ += "<line x1=\"" + pixels(from.x) + "\" y1=\"" + pixels(from.y) + "\" x2=\"" +
             pixels(to.x) + "\" y2=\"" + pixels(to.y) + "\" stroke=\"" + colours_.at(transport) +
             "\" stroke-width=\"2.5\" stroke-opacity=\"0.8\"" +
             (moving ? " stroke-dasharray=\"6 4\"" : "") + "/>\n";
  }

  void draw_process(std::size_t index) {
    const auto& process = topology_.processes[index];
    const Place& at = places_[index];
    if (!at.drawn) return;
    std::string tip = process.name + "; open: " + join(process.open, ", ");
    if (!process.absent.empty()) tip += "; absent: " + join(process.absent, ", ");
    body_ += "<circle cx=\"" + pixels(at.x) + "\" cy=\"" + pixels(at.y) + "\" r=\"" +
             pixels(kRadius) + "\" fill=\"" + (process.at_work ? "#ffe8a3" : "#ffffff") +
             "\" stroke=\"" + (process.absent.empty() ? "#323f4b" : "#d1495b") +
             "\" stroke-width=\"2\"><title>" + xml(tip) + "</title></circle>\n";
    write(at.x, at.y + 5, process.rank >= 0 ? std::to_string(process.rank) : "?",
          "text-anchor=\"middle\"");
  }

  void draw_missing() {
    if (topology_.missing_count == 0) return;
    write(kPad, missing_y_ + 16, std::to_string(topology_.missing_count) + " absent",
          "font-weight=\"bold\"");
    double x = kPad + kRadius;
    for (const int rank : topology_.missing) {
      if (x > width_ - kPad) break;
      body_ +=
          "<circle cx=\"" + pixels(x) + "\" cy=\"" + pixels(missing_y_ + 56) + "\" r=\"" +
          pixels(kRadius) +
          "\" fill=\"none\" stroke=\"#9aa5b1\" stroke-width=\"2\" stroke-dasharray=\"4 4\"/>\n";
      write(x, missing_y_ + 61, std::to_string(rank), "text-anchor=\"middle\" fill=\"#7b8794\"");
      x += kCell * 0.7;
    }
  }

  const Topology& topology_;
  const std::map<std::string, std::string> colours_;
  std::vector<Place> places_;
  std::vector<Box> boxes_;
  double width_ = 0, height_ = 0, missing_y_ = 0;
  std::string body_;
};

}  // namespace

std::string picture_of(const Topology& topology) { return Picture(topology).text(); }

}  // namespace livebtl::tool
