// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/status.cc -- status: where each process stands, and which are missing.
#include <CLI/App.hpp>
#include <set>

#include "control/ladder/membership.h"
#include "control/wire/json_archive.h"
#include "ctl-tool/ask.h"
#include "ctl-tool/command.h"
#include "ctl-tool/commands/status_pages.h"
#include "ctl-tool/moves.h"
#include "ctl-tool/say.h"

namespace livebtl::tool {
namespace {

using control::JobLinks;
using control::MemberEntry;
using control::StatusAnswer;

/// "sm:3 tcp:1": how many pairs use each; count: selects the lane.
std::string in_use(const core::EngineStatus& engine, std::uint32_t core::TransportStatus::*count) {
  std::vector<std::string> used;
  for (const auto& transport : engine.transports) {
    if (transport.*count == 0) continue;
    used.push_back(printable(transport.name) + ":" + std::to_string(transport.*count));
  }
  return used.empty() ? "-" : join(used, " ");
}

/// "": not held.
std::string held(const core::HoldReport& hold) {
  const std::string id = hex_id(hold.id);
  switch (hold.state) {
    case core::HoldState::kParking:
      return "parks for hold " + id;
    case core::HoldState::kParked:
      return "held by " + id + ", for " + std::to_string(hold.left_ms / 1000) + " s more" +
             (hold.claimed ? ", to be restored" : "");
    case core::HoldState::kBroken:
      return "hold " + id + " is broken: " + printable(hold.why);
    case core::HoldState::kFenced:
      return "fenced out: " + printable(hold.why);
    case core::HoldState::kNone:
      break;
  }
  return "";
}

std::string doing(const control::Standing& standing) {
  if (standing.joining) return "joining";
  if (!standing.report.refusal.empty()) return "refused: " + printable(standing.report.refusal);
  const bool resting =
      standing.reached && (standing.rung == core::Rung::kOld || standing.rung == core::Rung::kNew);
  if (resting) return "at rest";
  std::string text = standing.undoing ? "going back" : "in a ladder";
  if (!standing.reached && !standing.report.waiting.empty()) {
    text += ", waits for " + printable(join(standing.report.waiting, ", "));
  }
  return text;
}

std::string state_of(const StatusAnswer& answer) {
  std::string hold = held(answer.engine.hold);
  std::string ladder = doing(answer.standing);
  if (hold.empty()) return ladder;
  return ladder == "at rest" ? hold : hold + "; " + ladder;
}

Json status_member(const StatusAnswer& answer, bool peers) {
  Json json = as_json(answer.standing);
  StatusAnswer rest = answer;
  rest.engine.peers.clear();
  json["engine"] = as_json(rest)["engine"];
  if (!peers) return json;
  Json list = Json::array();
  for (const auto& peer : answer.engine.peers) {
    StatusAnswer one;
    one.engine.peers.push_back(peer);
    list.push_back(as_json(one)["engine"]["peers"][0]);
  }
  json["engine"]["peers"] = std::move(list);
  return json;
}

/// A job that was never switched stands on no rung that a user would know.
std::string rung_of(const control::Standing& standing) {
  const bool never = standing.epoch == 0 && standing.rung == core::Rung::kOld && standing.reached;
  return never ? "-" : control::rung_name(standing.rung);
}

Tone tone_of(const StatusAnswer& answer) {
  const core::HoldState hold = answer.engine.hold.state;
  if (hold == core::HoldState::kBroken || hold == core::HoldState::kFenced ||
      !answer.standing.report.refusal.empty())
    return Tone::kBad;
  return state_of(answer) == "at rest" ? Tone::kPlain : Tone::kActive;
}

void print_status(const CommandLine& line,
                  const std::vector<std::pair<MemberEntry, StatusAnswer>>& answers) {
  std::vector<std::string> titles{"RANK>", "PROCESS", "RUNG", "EPOCH>", "PAIRS", "BULK", "STATE"};
  if (line.wide) titles.insert(titles.end() - 1, {"NODE", "PROCESS ID", "INCARNATION>"});
  Table table(std::move(titles));
  for (const auto& [member, answer] : answers) {
    std::vector<std::string> row{rank_text(member.rank),
                                 printable(member.name),
                                 rung_of(answer.standing),
                                 std::to_string(answer.standing.epoch),
                                 in_use(answer.engine, &core::TransportStatus::peers),
                                 in_use(answer.engine, &core::TransportStatus::bulk_peers),
                                 state_of(answer)};
    if (line.wide)
      row.insert(row.end() - 1,
                 {printable(member.node), control::process_name(member.member.process),
                  std::to_string(static_cast<std::uint32_t>(member.member.incarnation))});
    table.add(std::move(row), tone_of(answer));
  }
  print(table.text(screen_of(line)));
  std::vector<const control::Standing*> standings;
  standings.reserve(answers.size());
  for (const auto& answer : answers) standings.push_back(&answer.second.standing);
  const std::string moves = moves_in_force(standings);
  if (!moves.empty()) print("\nswitched: " + moves + "\n");
}

void print_peers(const CommandLine& line,
                 const std::vector<std::pair<MemberEntry, StatusAnswer>>& answers) {
  Table table(
      {"PROCESS", "PEER", "SENDS ON", "BULK ON", "RECEIVES ON", "SENT>", "RECEIVED>", "KEPT>"});
  for (const auto& [member, answer] : answers) {
    for (const auto& peer : answer.engine.peers) {
      const auto name = [](const std::string& text) {
        return text.empty() ? "-" : printable(text);
      };
      table.add(
          {printable(member.name), name(peer.name), peer.lost ? "lost" : name(peer.transport),
           name(join(peer.bulk, " ")), name(peer.receiving), std::to_string(peer.messages_sent),
           std::to_string(peer.messages_received), human_bytes(peer.kept_bytes)},
          peer.lost ? Tone::kBad : Tone::kPlain);
    }
  }
  if (!table.empty()) print("\n" + table.text(screen_of(line)));
}

/// Is that one job, and all of it?
struct MemberCount {
  control::Missing missing;
  std::string conflict;
};

MemberCount count_members(const JobLinks& links, const Asker<StatusAnswer>::Result& result) {
  std::vector<control::Counted> live;
  for (const auto& [member, answer] : result.answers)
    live.push_back({member.name, answer.standing.rank, answer.standing.announced});
  for (const auto& member : result.silent) live.push_back({member.name, member.rank, 0, false});
  std::set<int> gone_ranks;
  for (const auto& member : links.found().gone) {
    if (member.rank >= 0) gone_ranks.insert(member.rank);
  }
  return {control::missing_members(live, gone_ranks, links.found().gone.size()),
          control::several_jobs(links.job(), live)};
}

void print_missing(const control::Missing& missing) {
  if (missing.count == 0) return;
  std::vector<std::string> ranks;
  for (const int rank : missing.ranks) {
    if (ranks.size() == control::kNamesMax) break;
    ranks.push_back(std::to_string(rank));
  }
  print("\nmissing: " + std::to_string(missing.count) + " of " + std::to_string(missing.announced) +
        " processes that the launcher announced" +
        (ranks.empty() ? "" : ", ranks " + join(ranks, ", ")) +
        (ranks.size() < missing.ranks.size() ? ", ..." : "") +
        ": not started yet, ended without notice, or on a node that no relay leads to\n");
}

ExitCode show_status(const CommandLine& line, const std::atomic<bool>& stop) {
  auto links = open_job(line, 0, stop);
  if (!links) return end_early(line, links.error());
  // If one is silent, time must remain for the other pages of those that answer.
  const TimeNs timeout = line.timeout_for_look(), end = monotonic_now() + timeout;
  Asker<StatusAnswer> asker(*links, line.peers ? timeout / 2 : timeout, stop);
  auto result = asker.ask_all(control::StatusRequest{links->job(), line.peers, 0});
  if (line.peers) add_all_pages(*links, end - monotonic_now(), stop, result);
  const MemberCount count = count_members(*links, result);
  if (line.json) {
    Json document = {{"schema", "livebtl.status/1"},   {"job", links->job()},
                     {"members", Json::array()},       {"silent", silent_json(result.silent)},
                     {"missing", count.missing.count}, {"missing_ranks", count.missing.ranks},
                     {"conflict", count.conflict}};
    for (const auto& [member, answer] : result.answers) {
      document["members"].push_back(status_member(answer, line.peers));
    }
    print_json(document);
  } else {
    print_status(line, result.answers);
    print_missing(count.missing);
    if (line.peers) print_peers(line, result.answers);
  }
  if (!count.conflict.empty()) complain(count.conflict);
  const ExitCode code = note_silent(result.silent, stop);
  return code == ExitCode::kDone && count.missing.count > 0 ? ExitCode::kMembersMissing : code;
}

void define_status(CLI::App& app, CommandLine& line) {
  app.add_flag("--peers", line.peers, "Show each pair: transport, messages, bytes kept");
}

}  // namespace

const Command kStatus{
    .name = "status",
    .summary = "Show where each process stands",
    .detail =
        R"(Shows, for each process, the rung it stands on, what it waits for, and which transports its pairs
send on: PAIRS for messages, BULK for the data of large ones. --peers also shows every pair: what
its messages are sent on, what shares the data of large ones, and what the peer's messages last
arrived on.

Examples:
  btlctl status
  btlctl status --peers
  btlctl --json status)",
    .define = define_status,
    .run = show_status};

}  // namespace livebtl::tool
