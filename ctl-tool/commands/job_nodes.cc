// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/job_nodes.cc -- see job_nodes.h.
#include "ctl-tool/commands/job_nodes.h"

#include <algorithm>
#include <map>

#include "base/deadline.h"
#include "control/client/job_links.h"
#include "ctl-tool/choose_job.h"
#include "ctl-tool/table.h"
#include "hypervisor/set/set_file.h"
#include "hypervisor/vm/untrusted.h"

namespace livebtl::tool {
namespace {

constexpr TimeNs kNodesWait = 10 * kSecond;  // for relays of the job that have just been started
constexpr TimeNs kLookedAgain = 100 * kMillisecond;

/// "rank 3 on node17": node17.
std::string host_in(const std::string& name) {
  constexpr std::string_view kOn = " on ";
  const auto at = name.rfind(kOn);
  return at == std::string::npos ? "" : name.substr(at + kOn.size());
}

/// Names of nodes, with their ids. Errors: kInvalid: a name cannot be that of one node.
Result<std::map<std::string, std::string>> nodes_in(
    const std::vector<control::MemberEntry>& members) {
  std::map<std::string, std::string> nodes;
  for (const auto& member : members) {
    const std::string host = host_in(member.name);
    const auto known = nodes.emplace(host, member.node).first;
    if (hypervisor::well_formed_machine(host) && known->second == member.node) continue;
    return fail(Errc::kInvalid, "'" + printable(host) +
                                    "' names no node, or two of them; give each node a name of its "
                                    "own, by LIVEBTL_NODE, when the job is started");
  }
  return nodes;
}

}  // namespace

Result<std::vector<std::string>> nodes_of_job(const CommandLine& line) {
  const auto job = find_job(line.job, line.user);
  if (!job) return fail(Errc::kNotFound, job.error().text);
  std::uint32_t announced = 0;
  for (const control::MemberCard& card : job->members.live)
    announced = std::max(announced, card.announced);
  auto links = control::JobLinks::open(*job);
  const Deadline deadline{monotonic_now() + kNodesWait, nullptr};
  for (;;) {
    const auto& found = links.scan();
    const bool whole = found.live.size() + found.gone.size() >= announced;
    if (!whole && monotonic_now() < deadline.at) {
      hypervisor::pause(kLookedAgain, deadline);
      continue;
    }
    if (!whole)
      return fail(Errc::kNotFound, "not all processes of the job are found; see btlctl status");
    const auto nodes = nodes_in(found.live);
    if (!nodes) return tl::unexpected(nodes.error());
    std::vector<std::string> names;
    for (const auto& [name, id] : *nodes) names.push_back(name);
    return names;
  }
}

}  // namespace livebtl::tool
