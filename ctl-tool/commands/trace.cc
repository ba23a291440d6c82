// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/trace.cc -- trace: the last switches as a time line, one row per process, in
// Chrome's trace format, which Perfetto reads.
//
// Only "X" events (with a duration, nested strictly in their row), "i" (an instant) and "M" (names).
#include <CLI/App.hpp>
#include <map>
#include <set>

#include "ctl-tool/command.h"
#include "ctl-tool/merged_history.h"
#include "ctl-tool/options.h"
#include "ctl-tool/pages.h"
#include "ctl-tool/trace_picture.h"

namespace livebtl::tool {
namespace {

using control::PageView;
using control::RungRecord;
using control::SwitchRecord;

/// Rows are numbered: a node is a "process" of the format, a process a "thread".
class Rows {
 public:
  explicit Rows(const std::vector<PageView>& pages) {
    for (const PageView& page : pages) nodes_.emplace(page.node, nodes_.size() + 1);
  }
  Json place(const PageView& page) const {
    const int unnumbered = 1'000'000;
    const auto number =
        static_cast<int>(static_cast<std::uint64_t>(page.member.process) % 1'000'000);
    return {{"pid", nodes_.at(page.node)},
            {"tid", page.rank >= 0 ? page.rank : unnumbered + number}};
  }

 private:
  std::map<std::string, std::size_t> nodes_;
};

class Trace {
 public:
  Trace(const std::vector<PageView>& pages, std::vector<std::uint64_t> wanted)
      : pages_(pages), rows_(pages), wanted_(std::move(wanted)) {
    for (const PageView& page : pages) {
      for (const SwitchRecord& record : page.switches) {
        if (is_wanted(record)) begin_ns_ = std::min(begin_ns_, record.began_unix_ns);
      }
    }
    for (const PageView& page : pages) add(page);
  }
  Json document(const std::string& job) const {
    const std::uint64_t began = events_.empty() || begin_ns_ == UINT64_MAX ? 0 : begin_ns_;
    return {{"traceEvents", events_},
            {"displayTimeUnit", "ms"},
            {"otherData", {{"job", job}, {"began_unix_ms", began / std::uint64_t{kMillisecond}}}}};
  }

 private:
  bool is_wanted(const SwitchRecord& record) const {
    return std::ranges::find(wanted_, record.operation) != wanted_.end();
  }
  double at_us(const SwitchRecord& record, TimeNs since) const {
    return static_cast<double>(record.began_unix_ns - begin_ns_) / 1e3 +
           static_cast<double>(since) / 1e3;
  }
  void put(const PageView& page, Json event) {
    event.update(rows_.place(page));
    events_.push_back(std::move(event));
  }
  void name_row(const PageView& page) {
    put(page, {{"ph", "M"}, {"name", "process_name"}, {"args", {{"name", "node " + page.host}}}});
    put(page, {{"ph", "M"}, {"name", "thread_name"}, {"args", {{"name", page.name}}}});
  }
  void add(const PageView& page) {
    name_row(page);
    for (const SwitchRecord& record : page.switches) {
      if (is_wanted(record)) add(page, record);
    }
    for (const control::LossView& loss : page.losses) add(page, loss);
  }
  void add(const PageView& page, const SwitchRecord& record) {
    if (record.rungs.empty()) return;
    const TimeNs first = record.rungs.front().ordered_ns, last = record.rungs.back().reached_ns;
    put(page, {{"ph", "X"},
               {"cat", "switch"},
               {"name", title_of_switch(record, pages_)},
               {"ts", at_us(record, first)},
               {"dur", static_cast<double>(last - first) / 1e3},
               {"args",
                {{"ordered_by", record.ordered_by},
                 {"finished_by", record.finished_by},
                 {"end", control::switch_end_name(record.end)},
                 {"refusal", record.refusal}}}});
    for (const RungRecord& rung : record.rungs)
      put(page,
          {{"ph", "X"},
           {"cat", "rung"},
           {"name", std::string(rung.undoing ? "back to " : "") + control::rung_name(rung.rung)},
           {"ts", at_us(record, rung.ordered_ns)},
           {"dur", static_cast<double>(rung.reached_ns - rung.ordered_ns) / 1e3},
           {"args", {{"reached", rung.reached}, {"waited_for", rung.waited_for}}}});
  }
  /// Losses before the first switch shown would push the picture out of sight.
  void add(const PageView& page, const control::LossView& loss) {
    const std::uint64_t at_ns = loss.unix_ms * std::uint64_t{kMillisecond};
    if (at_ns < begin_ns_) return;
    put(page, {{"ph", "i"},
               {"s", "t"},
               {"cat", "loss"},
               {"name", loss.transport.empty() ? "peer lost" : "path lost: " + loss.transport},
               {"ts", static_cast<double>(at_ns - begin_ns_) / 1e3},
               {"args", {{"why", loss.why}}}});
  }

  const std::vector<PageView>& pages_;
  const Rows rows_;
  const std::vector<std::uint64_t> wanted_;
  std::uint64_t begin_ns_ = UINT64_MAX;
  Json events_ = Json::array();
};

ExitCode show_trace(const CommandLine& line, const std::atomic<bool>& stop) {
  auto look = PageLook::open(line, stop);
  if (!look) return end_early(line, look.error());
  const Pages pages = look->look();
  const std::vector<MergedSwitch> switches = merge_history(pages.pages, line.last);
  if (line.svg) {
    print(picture_of_switches(pages.pages, switches));
    return note_unread(pages, stop);
  }
  std::vector<std::uint64_t> wanted;
  wanted.reserve(switches.size());
  for (const MergedSwitch& each : switches) wanted.push_back(each.what.operation);
  print_json(Trace(pages.pages, std::move(wanted)).document(pages.job));
  return note_unread(pages, stop);
}

void define_trace(CLI::App& app, CommandLine& line) {
  add_last(app, line);
  app.add_flag("--svg", line.svg, "Print a picture (SVG) instead");
}

}  // namespace

const Command kTrace{
    .name = "trace",
    .summary = "Print the last switches as a timeline, or as a picture",
    .detail =
        R"(Prints a document that ui.perfetto.dev and chrome://tracing open: one row per process, with the last
switches (eight at most), their rungs, and what was lost meanwhile. Rows of one node share a clock;
those of two nodes are as far apart as their clocks. With --svg a picture: one row per process, one
bar per rung. The processes are not woken.

Examples:
  btlctl trace >switches.json
  btlctl trace --svg --last 1 >switch.svg)",
    .define = define_trace,
    .conflict = conflict_of_svg,
    .run = show_trace};

}  // namespace livebtl::tool
