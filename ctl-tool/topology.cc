// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/topology.cc -- see topology.h.
#include "ctl-tool/topology.h"

#include <algorithm>
#include <map>

namespace livebtl::tool {
namespace {

using control::PageView;

Topology::Process process_of(const PageView& page) {
  Topology::Process process;
  process.name = short_name(page);
  process.rank = page.rank;
  for (const auto& transport : page.transports) {
    if (transport.open) process.open.push_back(transport.name);
    if (!transport.absent.empty()) process.absent.push_back(transport.name);
  }
  const bool end = page.rung == control::Rung::kOld || page.rung == control::Rung::kNew;
  const bool held =
      page.hold.state == core::HoldState::kParking || page.hold.state == core::HoldState::kParked;
  process.at_work = !page.reached || !end || held;
  return process;
}

void add_links(const PageView& page, std::size_t self,
               const std::map<ProcessId, std::size_t>& index, Topology& topology,
               std::map<std::pair<std::size_t, std::size_t>, std::size_t>& known) {
  for (const control::PairView& pair : page.pairs) {
    const auto other = index.find(pair.process);
    if (other == index.end() || other->second == self || pair.sending.empty()) continue;
    const auto ends = std::minmax(self, other->second);
    const auto [entry, fresh] =
        known.emplace(std::pair(ends.first, ends.second), topology.links.size());
    if (fresh)
      topology.links.push_back({self, other->second, pair.sending, ""});
    else
      topology.links[entry->second].back = pair.sending;
  }
}

/// Only their peers can name the processes behind a cut cable. If none is missing, a process that
/// is not found has left.
std::vector<std::string> unseen(const Pages& pages, const std::map<ProcessId, std::size_t>& index) {
  if (pages.missing.count == 0) return {};
  std::map<ProcessId, std::string> names;
  for (const PageView& page : pages.pages) {
    for (const control::PairView& pair : page.pairs) {
      if (!pair.lost && !pair.name.empty() && !index.contains(pair.process))
        names.emplace(pair.process, printable(pair.name));
    }
  }
  std::vector<std::string> sorted;
  sorted.reserve(names.size());
  for (const auto& [process, name] : names) sorted.push_back(name);
  std::ranges::sort(sorted);
  return sorted;
}

}  // namespace

Topology topology_of(const Pages& pages) {
  Topology topology;
  topology.job = pages.job;
  topology.missing = pages.missing.ranks;
  topology.missing_count = pages.missing.count;
  std::map<ProcessId, std::size_t> index;
  std::map<std::string, std::size_t> nodes;
  for (const PageView& page : pages.pages) {
    const auto [node, fresh] = nodes.emplace(page.node, topology.nodes.size());
    if (fresh) topology.nodes.push_back({page.node, page.host, {}});
    index.emplace(page.member.process, topology.processes.size());
    topology.nodes[node->second].processes.push_back(topology.processes.size());
    topology.processes.push_back(process_of(page));
    topology.processes.back().node = node->second;
  }
  topology.unseen = unseen(pages, index);
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> known;
  for (const PageView& page : pages.pages)
    add_links(page, index.at(page.member.process), index, topology, known);
  return topology;
}

}  // namespace livebtl::tool
