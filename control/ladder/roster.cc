// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/roster.cc -- see roster.h.
#include "control/ladder/roster.h"

#include <algorithm>

#include "base/transport_name.h"

namespace livebtl::control {

bool promised(const Standing& standing, const Term& term) noexcept {
  return !standing.joining && standing.term == term;
}

bool acknowledged(const Standing& standing, const Order& order) noexcept {
  return promised(standing, order.term) && standing.seq == order.seq &&
         standing.operation.id == order.operation.id && standing.rung == order.rung &&
         standing.reached && standing.refused_seq != order.seq;
}

bool at_rest(const Standing& standing) noexcept {
  const bool ends = standing.rung == Rung::kOld || standing.rung == Rung::kNew;
  return standing.operation.id == 0 || (ends && standing.reached);
}

Rung place_on(const Standing& standing, std::uint64_t operation) noexcept {
  return standing.operation.id == operation ? standing.rung : Rung::kOld;
}

bool Roster::forget_overtaken() {
  const std::uint32_t newest = highest_epoch();
  const Standing* in_force = nullptr;
  for (const Standing& standing : answers()) {
    if (standing.epoch == newest) in_force = &standing;
  }
  if (in_force == nullptr) return false;
  const Routing routing = in_force->routing;
  bool forgot = false;
  for (auto& [member, entry] : entries()) {
    if (!entry.answer || entry.answer->epoch == newest) continue;
    if (entry.answer->routing == routing) continue;
    entry.answer.reset();
    forgot = true;
  }
  return forgot;
}

bool Roster::all_stand() const {
  return all_answered([](const Standing& standing) { return !standing.joining; });
}

bool Roster::all_promised(const Term& term) const {
  return all_answered([&](const Standing& standing) { return promised(standing, term); });
}

bool Roster::all_acknowledged(const Order& order) const {
  return all_answered([&](const Standing& standing) { return acknowledged(standing, order); });
}

std::vector<KnownTransport> Roster::known_transports() const {
  std::vector<KnownTransport> known;
  for (const Standing& standing : answers()) {
    for (const KnownTransport& transport : standing.transports) {
      if (std::find(known.begin(), known.end(), transport) == known.end())
        known.push_back(transport);
    }
  }
  return known;
}

std::set<std::string> Roster::known_names() const {
  std::set<std::string> names;
  for (const KnownTransport& transport : known_transports()) names.insert(transport.name);
  return names;
}

std::set<NodeLabel> Roster::nodes() const {
  std::set<NodeLabel> nodes;
  for (const Standing& standing : answers()) nodes.insert({standing.node, standing.host});
  return nodes;
}

std::vector<std::string> Roster::absent(const std::string& node,
                                        const std::string& transport) const {
  std::vector<std::string> found;
  for (const Standing& standing : answers()) {
    if (!node.empty() && standing.node != node) continue;
    for (const std::string& each : standing.report.absent) {
      const std::string_view name = std::string_view(each).substr(0, each.find(": "));
      const bool meant = transport.empty() || is_meant_by(name, transport);
      if (meant) found.push_back(standing.name + ": " + each);
    }
  }
  return found;
}

Term Roster::highest_term() const {
  Term highest;
  for (const Standing& standing : answers()) highest = std::max(highest, standing.term);
  return highest;
}

std::uint32_t Roster::highest_epoch() const {
  std::uint32_t highest = 0;
  for (const Standing& standing : answers()) highest = std::max(highest, standing.epoch);
  return highest;
}

const Standing* Roster::refusal(const Order& order) const {
  for (const Standing& standing : answers()) {
    if (promised(standing, order.term) && standing.refused_seq == order.seq) return &standing;
  }
  return nullptr;
}

}  // namespace livebtl::control
