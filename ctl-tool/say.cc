// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/say.cc -- see say.h.
#include "ctl-tool/say.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace livebtl::tool {
namespace {

using control::Outcome;

std::string facts_of(const CommandLine& line, const Outcome& outcome) {
  double milliseconds = 0.0;
  for (const auto& rung : outcome.rungs) milliseconds += rung.milliseconds;
  std::string text = counted(outcome.members, "process", "processes");
  if (outcome.pairs_moved > 0)
    text += ", " + counted(outcome.pairs_moved, "pair", "pairs") + " moved";
  else if (line.command == "switch" && !outcome.already && outcome.plans.empty())
    text += ", no pair moved";
  if (outcome.pairs_left > 0) text += ", " + counted(outcome.pairs_left, "pair", "pairs") + " left";
  std::array<char, 32> time{};
  std::snprintf(time.data(), time.size(), ", %.1f ms", milliseconds);
  return text + (outcome.rungs.empty() ? "" : time.data());
}

/// Pairs stay where the new transport does not reach from one end to the other.
std::string why_left(const Outcome& outcome) {
  if (outcome.verb != "switch" || outcome.arguments.size() < 2) return "left where it is";
  return "left where it is, as " + outcome.arguments[1] + " does not connect it";
}

void print_plans(const Outcome& outcome, const Screen& screen) {
  Table table({"PROCESS", "MOVES", "UNCHANGED>", "CUT OFF"});
  for (const auto& [name, plan] : outcome.plans) {
    std::vector<std::string> moves;
    for (const auto& [from, targets] : plan.moves) {
      for (const auto& [to, pairs] : targets) {
        moves.push_back(from + " -> " + to + ": " + std::to_string(pairs));
      }
    }
    table.add({printable(name), moves.empty() ? "-" : printable(join(moves, ", ")),
               std::to_string(plan.unchanged),
               plan.cut_off.empty() ? "-" : printable(join(plan.cut_off, ", "))},
              plan.cut_off.empty() ? Tone::kPlain : Tone::kBad);
  }
  print(table.text(screen));
}

void complain_details(const Outcome& outcome) {
  const char* what = outcome.code == ExitCode::kRefused ? "  would be cut off: " : "  ";
  for (const auto& pair : outcome.pairs) complain(what + printable(pair));
  for (const auto& straggler : outcome.stragglers) {
    const std::string name = straggler.name.empty() ? "a process" : straggler.name;
    std::string text = "  " + printable(name);
    if (straggler.rung) text += std::string(" stands on ") + control::rung_name(*straggler.rung);
    if (!straggler.rung && !straggler.answered) {
      text += " is silent: it has answered nothing; is it stopped? kill -CONT lets it go on";
    } else if (!straggler.answered) {
      text += ", and did not answer";
    } else if (!straggler.waiting.empty()) {
      text += ", waits for " + printable(join(straggler.waiting, ", "));
    }
    complain(text);
  }
  const auto listed = static_cast<std::uint32_t>(outcome.stragglers.size());
  if (outcome.stragglers_total > listed) {
    complain("  and " + std::to_string(outcome.stragglers_total - listed) + " more");
  }
  if (!outcome.missing_ranks.empty()) {
    std::vector<std::string> ranks;
    for (const int rank : outcome.missing_ranks) ranks.push_back(std::to_string(rank));
    complain("  missing ranks: " + join(ranks, ", "));
  }
  for (const auto& holder : outcome.other_holders) complain("  held by " + printable(holder));
}

/// "rank 3 on node17, rank 5 on node18" and how many more.
std::string names_of(const std::vector<control::MemberEntry>& members) {
  std::vector<std::string> names;
  for (const auto& member : members) {
    if (names.size() == control::kNamesMax) break;
    names.push_back(printable(member.name));
  }
  std::string text = join(names, ", ");
  if (members.size() > names.size()) {
    text += " and " + std::to_string(members.size() - names.size()) + " more";
  }
  return text;
}

}  // namespace

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void print(const CommandLine& line, const Json& document, const Table& table) {
  if (line.json)
    print_json(document);
  else
    print(table.text(screen_of(line)));
}

void print_json(const Json& document) {
  print(document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void complain(const std::string& text) {
  std::fprintf(stderr, "btlctl: %s\n", printable_lines(text).c_str());
}

void print_end(const CommandLine& line, const NoJob& end) {
  Outcome outcome;
  outcome.code = end.code;
  outcome.verb = line.command;
  outcome.arguments = line.arguments;
  outcome.text = end.text;
  print(control::outcome_json(outcome) + "\n");
}

ExitCode end_early(const CommandLine& line, const NoJob& end) {
  if (end.code != ExitCode::kDone) complain(end.text);
  if (line.json) {
    print_end(line, end);
  } else if (end.code == ExitCode::kDone) {
    print(printable(end.text) + "\n");
  }
  return end.code;
}

std::vector<std::string> each_pair_once(const std::vector<std::string>& pairs) {
  constexpr std::string_view kBetween = " - ";
  std::vector<std::string> once;
  for (const std::string& pair : pairs) {
    const std::size_t at = pair.find(kBetween);
    const std::size_t id = pair.rfind(" (");
    const bool whole = at != std::string::npos && id != std::string::npos && at < id;
    const std::size_t peer = at + kBetween.size();
    const std::string other_end =
        !whole ? "" : pair.substr(peer, id - peer).append(kBetween) + pair.substr(0, at) + " (";
    const bool known =
        whole && std::any_of(once.begin(), once.end(), [&other_end](const std::string& each) {
          return each.starts_with(other_end);
        });
    if (!known) once.push_back(pair);
  }
  return once;
}

void report(const CommandLine& line, const Outcome& outcome) {
  if (line.json) print(control::outcome_json(outcome) + "\n");
  const bool done = outcome.code == ExitCode::kDone;
  if (done && !line.json) {
    if (!outcome.plans.empty()) print_plans(outcome, screen_of(line));
    for (const auto& name : outcome.opens)
      print("opens " + printable(name) + " where it is closed\n");
    for (const auto& name : outcome.closes) print("closes " + printable(name) + "\n");
    print(printable(outcome.text) + " (" + facts_of(line, outcome) + ")\n");
    for (const auto& pair : each_pair_once(outcome.pairs))
      print("  " + printable(why_left(outcome) + ": " + pair) + "\n");
    for (const auto& each : outcome.absent) print("  not there yet: " + printable(each) + "\n");
  } else if (!done) {
    complain(printable(outcome.text));
    complain_details(outcome);
  }
}

Json as_json(const control::Message& message) {
  const auto text = control::encode(message);
  if (!text) return Json::object();
  Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object()) return Json::object();
  json.erase("schema");
  return json;
}

Json silent_json(const std::vector<control::MemberEntry>& silent) {
  Json names = Json::array();
  for (const auto& member : silent) names.push_back(member.name);
  return names;
}

ExitCode note_silent(const std::vector<control::MemberEntry>& silent,
                     const std::atomic<bool>& stop) {
  if (stop.load()) return ExitCode::kInterrupted;
  if (silent.empty()) return ExitCode::kDone;
  complain("no answer from " + names_of(silent) + "; is it stopped?");
  return ExitCode::kMembersMissing;
}

std::string rank_text(int rank) { return rank < 0 ? "-" : std::to_string(rank); }

}  // namespace livebtl::tool
