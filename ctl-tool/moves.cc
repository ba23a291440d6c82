// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/moves.cc -- the rules of `switch`, read from what the members of a job answer.
#include "ctl-tool/moves.h"

#include <algorithm>
#include <map>

#include "ctl-tool/table.h"

namespace livebtl::tool {
namespace {

void add_moves(std::vector<std::string>& moves, const core::Rules& rules,
               const std::string& where) {
  for (const auto& [from, to] : rules.moved) {
    // A node's rule may keep pairs where they are, whatever the job's rule says.
    moves.push_back(printable(from) + (from == to ? " stays" : " to " + printable(to)) + where);
  }
}

}  // namespace

std::string moves_in_force(const std::vector<const control::Standing*>& standings) {
  const auto furthest =
      std::max_element(standings.begin(), standings.end(), [](const auto* one, const auto* other) {
        return std::pair(one->epoch, one->rung) < std::pair(other->epoch, other->rung);
      });
  if (furthest == standings.end()) return "";
  std::map<std::string, std::string> hosts;
  for (const auto* standing : standings) hosts[standing->node] = standing->host;
  std::vector<std::string> moves;
  add_moves(moves, (*furthest)->routing, "");
  for (const auto& [node, rules] : (*furthest)->routing.nodes) {
    const auto host = hosts.find(node);
    add_moves(moves, rules,
              " on " + printable(host == hosts.end() || host->second.empty() ? "node:" + node
                                                                             : host->second));
  }
  return join(moves, ", ");
}

}  // namespace livebtl::tool
