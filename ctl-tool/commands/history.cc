// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/history.cc -- history: the last switches, how long their rungs took, and for whom they waited.
#include <CLI/App.hpp>
#include <array>
#include <cstdio>

#include "base/hex.h"
#include "ctl-tool/command.h"
#include "ctl-tool/merged_history.h"
#include "ctl-tool/options.h"
#include "ctl-tool/pages.h"

namespace livebtl::tool {
namespace {

constexpr std::size_t kRefusalsShown = 3;

std::string ms_text(double milliseconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f ms", milliseconds);
  return text.data();
}

std::string rung_text(const MergedRung& rung) {
  return std::string(rung.undoing ? "back to " : "") + control::rung_name(rung.rung);
}

/// "rank 3 on n1: 12.0 ms, waited for the marker of rank 2"
std::string slow_text(const SlowMember& member) {
  std::string text = printable(member.name) + ": " + ms_text(member.milliseconds);
  if (!member.reached) text += ", has not reached it";
  if (!member.waited_for.empty()) text += ", waited for " + printable(member.waited_for);
  return text;
}

std::string people_of(const control::SwitchRecord& what) {
  const auto named = [](const std::string& who) {
    return who.empty() ? "an earlier version of btlctl" : printable(who);
  };
  std::string text = named(what.ordered_by);
  if (!what.finished_by.empty()) text += "; ended by " + named(what.finished_by);
  return text;
}

/// Lists a rung's slow processes below one another.
void add_rung(const MergedRung& rung, Table& table) {
  table.add({"  " + rung_text(rung),
             std::to_string(rung.reached) + "/" + std::to_string(rung.members),
             ms_text(rung.milliseconds), rung.slow.empty() ? "-" : slow_text(rung.slow.front())});
  for (std::size_t i = 1; i < rung.slow.size(); ++i)
    table.add({"", "", "", slow_text(rung.slow[i])});
}

void print_switch(const MergedSwitch& each, const Pages& pages, const Screen& screen) {
  const control::SwitchRecord& what = each.what;
  print(time_text(what.began_unix_ns / std::uint64_t{kMillisecond}) + "  " +
        title_of_switch(what, pages.pages) + ": " + control::switch_end_name(what.end) + ", " +
        ms_text(each.milliseconds) + ", " + counted(each.members, "process", "processes") +
        (what.pairs_moved > 0 && what.end == control::SwitchEnd::kDone
             ? ", " + counted(what.pairs_moved, "pair", "pairs") + " moved"
             : "") +
        (what.pairs_left > 0 ? ", " + counted(what.pairs_left, "pair", "pairs") + " left" : "") +
        "\n  by " + people_of(what) + "\n");
  for (std::size_t i = 0; i < std::min(each.refusals.size(), kRefusalsShown); ++i)
    print("  refused by " + printable(each.refusals[i]) + "\n");
  if (each.refusals.size() > kRefusalsShown)
    print("  and " + std::to_string(each.refusals.size() - kRefusalsShown) + " more refused\n");
  Table table({"  RUNG", "REACHED>", "TIME>", "SLOW"});
  for (const MergedRung& rung : each.rungs) add_rung(rung, table);
  if (!table.empty()) print(table.text(screen));
}

Json rung_json(const MergedRung& rung) {
  Json slow = Json::array();
  for (const SlowMember& member : rung.slow)
    slow.push_back({{"name", member.name},
                    {"rank", member.rank},
                    {"milliseconds", member.milliseconds},
                    {"reached", member.reached},
                    {"waited_for", member.waited_for}});
  return {{"rung", control::rung_name(rung.rung)},
          {"undoing", rung.undoing},
          {"members", rung.members},
          {"reached", rung.reached},
          {"milliseconds", rung.milliseconds},
          {"slow", std::move(slow)}};
}

Json switch_json(const MergedSwitch& each) {
  const control::SwitchRecord& what = each.what;
  Json rungs = Json::array();
  for (const MergedRung& rung : each.rungs) rungs.push_back(rung_json(rung));
  return {{"operation", hex_id(what.operation)},
          {"epoch", what.epoch},
          {"verb", what.verb},
          {"arguments", what.arguments},
          {"node", what.node},
          {"ordered_by", what.ordered_by},
          {"finished_by", what.finished_by},
          {"began_unix_ms", what.began_unix_ns / std::uint64_t{kMillisecond}},
          {"end", control::switch_end_name(what.end)},
          {"refusal", each.refusals.empty() ? "" : each.refusals.front()},
          {"refusals", each.refusals},
          {"milliseconds", each.milliseconds},
          {"members", each.members},
          {"pairs_moved", what.pairs_moved},
          {"pairs_left", what.pairs_left},
          {"rungs", std::move(rungs)}};
}

ExitCode show_history(const CommandLine& line, const std::atomic<bool>& stop) {
  auto look = PageLook::open(line, stop);
  if (!look) return end_early(line, look.error());
  const Pages pages = look->look();
  const auto switches = merge_history(pages.pages, line.last);
  if (line.json) {
    Json document = {{"schema", "livebtl.history/1"},
                     {"job", pages.job},
                     {"switches", Json::array()},
                     {"unread", unread_json(pages)}};
    for (const MergedSwitch& each : switches) document["switches"].push_back(switch_json(each));
    print_json(document);
  } else if (switches.empty()) {
    print("no switch is remembered: none was ordered since the processes of job " + pages.job +
          " began\n");
  }
  for (std::size_t i = 0; i < switches.size() && !line.json; ++i) {
    if (i > 0) print("\n");
    print_switch(switches[i], pages, screen_of(line));
  }
  return note_unread(pages, stop);
}

}  // namespace

const Command kHistory{
    .name = "history",
    .summary = "Show the last switches, and how long each step took",
    .detail =
        R"(Shows the last switches (eight at most), the oldest first: who ordered each, how it ended, how long
each rung took in the slowest process, and which processes were slow and what they waited for.
Every process remembers them itself, so they are shown even if the btlctl that ordered one was
killed; "ended by" then names who finished it. The processes are not woken.

Examples:
  btlctl history
  btlctl history --last 1
  btlctl --json history)",
    .define = add_last,
    .run = show_history};

}  // namespace livebtl::tool
