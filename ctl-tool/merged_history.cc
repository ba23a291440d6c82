// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/merged_history.cc -- see merged_history.h.
#include "ctl-tool/merged_history.h"

#include <algorithm>

#include "ctl-tool/table.h"

namespace livebtl::tool {
namespace {

using control::PageView;
using control::RungRecord;
using control::SwitchEnd;
using control::SwitchRecord;

constexpr std::size_t kSlowNamed = 3;
constexpr double kNoticeable = 1.0;  // ms: less is scheduling noise

double in_ms(TimeNs time) { return static_cast<double>(time) / static_cast<double>(kMillisecond); }

struct Told {
  const PageView* page;
  const SwitchRecord* record;
};

/// The record of a process's `turn`th order to the rung of `like`, up or down as there; null: none.
const RungRecord* rung_in(const SwitchRecord& record, const RungRecord& like, std::size_t turn) {
  for (const RungRecord& each : record.rungs) {
    if (each.rung != like.rung || each.undoing != like.undoing) continue;
    if (turn-- == 0) return &each;
  }
  return nullptr;
}

MergedRung merge_rung(const std::vector<Told>& told, const RungRecord& like, std::size_t turn) {
  MergedRung merged{like.rung, like.undoing, 0, 0, 0.0, {}};
  std::vector<double> times;
  for (const Told& one : told) {
    const RungRecord* rung = rung_in(*one.record, like, turn);
    if (rung == nullptr) continue;
    const double took = in_ms(rung->reached_ns - rung->ordered_ns);
    ++merged.members;
    merged.reached += rung->reached ? 1 : 0;
    merged.milliseconds = std::max(merged.milliseconds, took);
    times.push_back(took);
    merged.slow.push_back({one.page->name, one.page->rank, took, rung->reached, rung->waited_for});
  }
  if (times.empty()) return merged;
  std::ranges::sort(times);
  const double median = times[times.size() / 2];
  std::erase_if(merged.slow, [median](const SlowMember& member) {
    const bool stands_out = member.milliseconds > std::max(2 * median, median + kNoticeable);
    const bool waited = !member.waited_for.empty() && member.milliseconds >= kNoticeable;
    return member.reached && !stands_out && !waited;
  });
  std::ranges::stable_sort(merged.slow, [](const SlowMember& one, const SlowMember& other) {
    return std::pair(!one.reached, one.milliseconds) >
           std::pair(!other.reached, other.milliseconds);
  });
  if (merged.slow.size() > kSlowNamed) merged.slow.resize(kSlowNamed);
  return merged;
}

/// The rungs of all processes, in the order of `rungs`.
std::vector<MergedRung> merge_rungs(const std::vector<Told>& told,
                                    const std::vector<RungRecord>& rungs) {
  std::vector<MergedRung> merged;
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const auto turn = std::count_if(
        rungs.begin(), rungs.begin() + static_cast<std::ptrdiff_t>(i), [&](const RungRecord& each) {
          return each.rung == rungs[i].rung && each.undoing == rungs[i].undoing;
        });
    merged.push_back(merge_rung(told, rungs[i], static_cast<std::size_t>(turn)));
  }
  return merged;
}

MergedSwitch merge_told(const std::vector<Told>& told) {
  // A process that joined in mid-switch knows less than the others.
  const Told* fullest = &told.front();
  for (const Told& one : told) {
    if (one.record->rungs.size() > fullest->record->rungs.size()) fullest = &one;
  }
  MergedSwitch merged;
  merged.what = *fullest->record;
  merged.members = static_cast<std::uint32_t>(told.size());
  merged.what.rungs.clear();
  merged.what.refusal.clear();
  merged.what.pairs_moved = merged.what.pairs_left = 0;
  for (const Told& one : told) {
    const SwitchRecord& record = *one.record;
    if (!record.rungs.empty())
      merged.milliseconds = std::max(merged.milliseconds, in_ms(record.rungs.back().reached_ns));
    merged.what.began_unix_ns = std::min(merged.what.began_unix_ns, record.began_unix_ns);
    merged.what.pairs_moved += record.pairs_moved;
    merged.what.pairs_left += record.pairs_left;
    if (record.end == SwitchEnd::kUnderWay) merged.what.end = SwitchEnd::kUnderWay;
    if (!record.refusal.empty()) merged.refusals.push_back(one.page->name + ": " + record.refusal);
    if (!record.finished_by.empty()) merged.what.finished_by = record.finished_by;
  }
  merged.what.pairs_moved /= 2;  // each pair has two ends
  merged.what.pairs_left /= 2;
  merged.rungs = merge_rungs(told, fullest->record->rungs);
  return merged;
}

}  // namespace

std::vector<MergedSwitch> merge_history(const std::vector<PageView>& pages, std::size_t last) {
  std::vector<std::pair<std::uint64_t, std::vector<Told>>> by_operation;
  for (const PageView& page : pages) {
    for (const SwitchRecord& record : page.switches) {
      auto found = std::ranges::find(by_operation, record.operation,
                                     [](const auto& entry) { return entry.first; });
      if (found == by_operation.end())
        found = by_operation.insert(by_operation.end(), {record.operation, {}});
      found->second.push_back({&page, &record});
    }
  }
  std::vector<MergedSwitch> merged;
  merged.reserve(by_operation.size());
  for (const auto& [operation, told] : by_operation) merged.push_back(merge_told(told));
  std::ranges::stable_sort(merged, {},
                           [](const MergedSwitch& each) { return each.what.began_unix_ns; });
  if (merged.size() > last)
    merged.erase(merged.begin(), merged.end() - static_cast<std::ptrdiff_t>(last));
  return merged;
}

std::string title_of_switch(const SwitchRecord& record, const std::vector<PageView>& pages) {
  std::string text = record.verb;
  for (const std::string& word : record.arguments) text += " " + word;
  if (!record.node.empty()) {
    const auto there = std::ranges::find(pages, record.node, &PageView::node);
    text += " on node " + (there == pages.end() ? record.node : there->host);
  }
  return printable(text);
}

}  // namespace livebtl::tool
