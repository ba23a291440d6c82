// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/list.cc -- list: the transports of a job, added up over its processes.
#include <map>

#include "ctl-tool/ask.h"
#include "ctl-tool/command.h"
#include "ctl-tool/say.h"

namespace livebtl::tool {
namespace {

using control::ListAnswer;
using control::MemberEntry;

/// One transport, summed over all members.
struct Sum {
  core::TransportStatus total;
  std::uint32_t members = 0, open = 0, excluded = 0, quiesced = 0, absent = 0;
};

std::map<std::string, Sum> sum_transports(
    const std::vector<std::pair<MemberEntry, ListAnswer>>& answers) {
  std::map<std::string, Sum> sums;
  for (const auto& [member, answer] : answers) {
    for (const auto& transport : answer.transports) {
      Sum& sum = sums[transport.name];
      sum.total.alias = transport.alias;
      sum.total.exclusivity = transport.exclusivity;
      sum.total.weight = transport.weight;
      // A process's pair with itself has both ends there.
      const std::uint32_t own = transport.own_pair ? 1 : 0;
      sum.total.peers += transport.peers + (transport.peers > 0 ? own : 0);
      sum.total.bulk_peers += transport.bulk_peers + (transport.bulk_peers > 0 ? own : 0);
      sum.total.carried += transport.carried;
      sum.total.paths_lost += transport.paths_lost;
      sum.total.corrupt_frames += transport.corrupt_frames;
      sum.members += 1;
      sum.open += transport.open ? 1 : 0;
      sum.excluded += transport.excluded ? 1 : 0;
      sum.quiesced += transport.quiesced ? 1 : 0;
      sum.absent += transport.absent.empty() ? 0 : 1;
    }
  }
  return sums;
}

/// Both ends count a pair.
std::string pairs_of(std::uint32_t ends) { return std::to_string((ends + 1) / 2); }

std::string state_of(const Sum& sum) {
  // Not in all: the command was for one node, or is under way.
  const auto in = [&](std::uint32_t members) {
    return members == sum.members ? std::string() : " in " + std::to_string(members);
  };
  if (sum.excluded > 0) return "removed" + in(sum.excluded);
  if (sum.quiesced > 0) return "quiesced" + in(sum.quiesced);
  if (sum.absent > 0) return "absent" + in(sum.absent);
  if (sum.open == 0) return "closed";
  return sum.open == sum.members ? "open" : "open in " + std::to_string(sum.open);
}

Table table_of(const std::map<std::string, Sum>& sums, bool wide) {
  std::vector<std::string> titles{"TRANSPORT", "STATE", "EXCLUSIVITY>", "WEIGHT>",     "PAIRS>",
                                  "BULK>",     "SENT>", "RECEIVED>",    "PATHS LOST>", "CORRUPT>"};
  if (wide) titles.insert(titles.end(), {"FRAMES SENT>", "FRAMES RECEIVED>", "READ BY PEER>"});
  Table table(std::move(titles));
  for (const auto& [name, sum] : sums) {
    const std::string label = sum.total.alias.empty() ? name : name + " (" + sum.total.alias + ")";
    std::vector<std::string> row{printable(label),
                                 state_of(sum),
                                 std::to_string(sum.total.exclusivity),
                                 std::to_string(sum.total.weight),
                                 pairs_of(sum.total.peers),
                                 pairs_of(sum.total.bulk_peers),
                                 human_bytes(sum.total.carried.bytes_sent),
                                 human_bytes(sum.total.carried.bytes_received),
                                 std::to_string(sum.total.paths_lost),
                                 std::to_string(sum.total.corrupt_frames)};
    if (wide)
      row.insert(row.end(), {std::to_string(sum.total.carried.frames_sent),
                             std::to_string(sum.total.carried.frames_received),
                             std::to_string(sum.total.carried.frames_read_remotely)});
    table.add(std::move(row), sum.absent > 0 ? Tone::kActive : Tone::kPlain);
  }
  return table;
}

ExitCode show_list(const CommandLine& line, const std::atomic<bool>& stop) {
  auto links = open_job(line, 0, stop);
  if (!links) return end_early(line, links.error());
  Asker<ListAnswer> asker(*links, line.timeout_for_look(), stop);
  const auto result = asker.ask_all(control::ListRequest{links->job()});
  if (line.json) {
    Json document = {
        {"schema", "livebtl.list/1"}, {"job", links->job()}, {"members", Json::array()}};
    document["silent"] = silent_json(result.silent);
    for (const auto& [member, answer] : result.answers) {
      document["members"].push_back(as_json(answer));
    }
    print_json(document);
    return note_silent(result.silent, stop);
  }
  print(table_of(sum_transports(result.answers), line.wide).text(screen_of(line)));
  return note_silent(result.silent, stop);
}

}  // namespace

const Command kList{
    .name = "list",
    .summary = "List the transports of a job",
    .detail =
        R"(Shows each transport: whether it may be used, its exclusivity and weight, how many pairs use it
now, and the bytes it has carried. PAIRS send their messages on it; BULK pairs send the data of
large messages on it, which transports of equal exclusivity share by weight. A pair is two
connected processes, or a process and itself, and counts once, as in the pairs that `btlctl switch`,
`add` and the others report as moved. Where one process is shown by itself (`btlctl status`,
--dry-run, --json by process) its own pairs are counted, so that each pair appears at both ends.

Example:
  btlctl list)",
    .run = show_list};

}  // namespace livebtl::tool
