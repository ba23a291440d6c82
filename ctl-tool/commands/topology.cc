// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/topology.cc -- topology: which processes run where, and what connects them; as a table or a picture.
#include <CLI/App.hpp>
#include <map>

#include "ctl-tool/command.h"
#include "ctl-tool/options.h"
#include "ctl-tool/topology_picture.h"

namespace livebtl::tool {
namespace {

using Counts = std::map<std::string, std::uint32_t>;

/// "sm:3 tcp:1"
std::string text_of(const Counts& counts) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts)
    parts.push_back(printable(name) + ":" + std::to_string(count));
  return parts.empty() ? "-" : join(parts, " ");
}

std::string ranks_of(const Topology& topology, const Topology::Node& node, bool all) {
  const std::size_t shown = all ? SIZE_MAX : 8;
  std::vector<std::string> names;
  for (const std::size_t each : node.processes) {
    if (names.size() == shown) break;
    const auto& process = topology.processes[each];
    names.push_back(process.rank >= 0 ? std::to_string(process.rank) : process.name);
  }
  return join(names, " ") + (node.processes.size() > shown ? " ..." : "");
}

Table table_of(const Topology& topology, bool wide) {
  Table table({"NODE", "PROCESSES>", "RANKS", "PAIRS INSIDE", "PAIRS TO OTHERS", "ABSENT"});
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    Counts inside, outside, absent;
    for (const auto& link : topology.links) {
      const bool one = topology.processes[link.one].node == i;
      const bool other = topology.processes[link.other].node == i;
      if (one || other) ++(one && other ? inside : outside)[link.transport];
    }
    for (const std::size_t each : topology.nodes[i].processes) {
      for (const std::string& name : topology.processes[each].absent) ++absent[name];
    }
    table.add({printable(topology.nodes[i].host),
               std::to_string(topology.nodes[i].processes.size()),
               ranks_of(topology, topology.nodes[i], wide), text_of(inside), text_of(outside),
               text_of(absent)});
  }
  return table;
}

Json json_of(const Topology& topology, const Pages& pages) {
  Json document = {{"schema", "livebtl.topology/1"},
                   {"job", topology.job},
                   {"nodes", Json::array()},
                   {"processes", Json::array()},
                   {"links", Json::array()},
                   {"missing", topology.missing_count},
                   {"missing_ranks", topology.missing},
                   {"unseen", topology.unseen},
                   {"unread", unread_json(pages)}};
  for (const auto& node : topology.nodes)
    document["nodes"].push_back({{"node", node.id}, {"host", node.host}});
  for (const auto& process : topology.processes)
    document["processes"].push_back({{"name", process.name},
                                     {"rank", process.rank},
                                     {"node", topology.nodes[process.node].id},
                                     {"open", process.open},
                                     {"absent", process.absent},
                                     {"at_work", process.at_work}});
  for (const auto& link : topology.links)
    document["links"].push_back({{"one", topology.processes[link.one].name},
                                 {"other", topology.processes[link.other].name},
                                 {"transport", link.transport},
                                 {"back", link.back.empty() ? link.transport : link.back}});
  return document;
}

void print_missing(const Topology& topology) {
  if (topology.missing_count == 0) return;
  constexpr std::size_t kNamed = 8;
  const std::size_t more = topology.unseen.size() - std::min(topology.unseen.size(), kNamed);
  std::vector<std::string> names = topology.unseen;
  names.resize(topology.unseen.size() - more);
  std::string text = "\nmissing: " + counted(topology.missing_count, "process", "processes") +
                     " that the launcher announced\n";
  if (!names.empty())
    text += "not reached, but known to others: " + join(names, ", ") +
            (more > 0 ? " and " + std::to_string(more) + " more" : "") +
            "; is its node, or the network to it, down?\n";
  print(text);
}

ExitCode show_topology(const CommandLine& line, const std::atomic<bool>& stop) {
  auto look = PageLook::open(line, stop);
  if (!look) return end_early(line, look.error());
  const Pages pages = look->look();
  const Topology topology = topology_of(pages);
  if (line.svg) {
    print(picture_of(topology));
    return note_unread(pages, stop);
  }
  print(line, json_of(topology, pages), table_of(topology, line.wide));
  if (!line.json) print_missing(topology);
  const ExitCode code = note_unread(pages, stop);
  if (code == ExitCode::kDone && topology.missing_count > 0) return ExitCode::kMembersMissing;
  return code;
}

void define_topology(CLI::App& app, CommandLine& line) {
  app.add_flag("--svg", line.svg, "Print a picture (SVG) instead of the table");
}

}  // namespace

const Command kTopology{
    .name = "topology",
    .summary = "Show which processes run where, and what connects them",
    .detail =
        R"(Shows, for each node, its processes, which transports their pairs send on, within the node and to
others, and transports that should be there but are absent. With --svg a picture: nodes with their
ranks; a line for each pair in its transport's colour, dashed if its two ends send on different
ones; ranks in a switch or a hold in yellow; ranks that lack a transport with a red edge; absent
ranks dashed. For each process, the 64 pairs that talk most are shown. The processes are not woken.

Examples:
  btlctl topology
  btlctl topology --svg >job.svg)",
    .define = define_topology,
    .conflict = conflict_of_svg,
    .run = show_topology};

}  // namespace livebtl::tool
