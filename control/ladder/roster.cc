// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/roster.cc -- queries over the members that a coordinator knows.
#include "control/ladder/roster.h"

#include <algorithm>

namespace livebtl::control {
namespace {

template <class Predicate>
bool all_of(const std::map<MemberId, RosterEntry>& entries, Predicate predicate) {
  return std::all_of(entries.begin(), entries.end(), [&](const auto& item) {
    return item.second.standing.has_value() && predicate(*item.second.standing);
  });
}

}  // namespace

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

bool Roster::add(MemberId member) {
  if (gone_.count(member) != 0) return false;
  const auto [at, added] = entries_.try_emplace(member);
  at->second.member = member;
  return added;
}

void Roster::remove(MemberId member, int rank) {
  const auto at = entries_.find(member);
  if (at != entries_.end()) {
    if (at->second.standing) rank = std::max(rank, at->second.standing->rank);
    entries_.erase(at);
  }
  gone_.insert(member);
  if (rank >= 0) gone_ranks_.insert(rank);
}

RosterEntry* Roster::update(const Standing& standing) {
  RosterEntry* entry = find(standing.member);
  if (entry == nullptr) return nullptr;
  if (entry->standing && entry->standing->version >= standing.version) return nullptr;
  entry->standing = standing;
  return entry;
}

RosterEntry* Roster::find(MemberId member) {
  const auto at = entries_.find(member);
  return at == entries_.end() ? nullptr : &at->second;
}

bool Roster::forget_overtaken() {
  const std::uint32_t newest = highest_epoch();
  const Standing* in_force = nullptr;
  for (const auto& [member, entry] : entries_) {
    if (entry.standing && entry.standing->epoch == newest) in_force = &*entry.standing;
  }
  if (in_force == nullptr) return false;
  const Routing routing = in_force->routing;
  bool forgot = false;
  for (auto& [member, entry] : entries_) {
    if (!entry.standing || entry.standing->epoch == newest) continue;
    if (entry.standing->routing == routing) continue;
    entry.standing.reset();
    forgot = true;
  }
  return forgot;
}

bool Roster::all_stand() const {
  return all_of(entries_, [](const Standing& standing) { return !standing.joining; });
}

bool Roster::all_promised(const Term& term) const {
  return all_of(entries_, [&](const Standing& standing) { return promised(standing, term); });
}

bool Roster::all_acknowledged(const Order& order) const {
  return all_of(entries_, [&](const Standing& standing) { return acknowledged(standing, order); });
}

std::vector<Counted> Roster::counted() const {
  std::vector<Counted> list;
  for (const auto& [member, entry] : entries_) {
    list.emplace_back().answered = entry.standing.has_value();
    if (!entry.standing) continue;
    list.back() = {entry.standing->name, entry.standing->rank, entry.standing->announced};
  }
  return list;
}

Missing Roster::missing() const { return missing_members(counted(), gone_ranks_, gone_.size()); }

std::vector<KnownTransport> Roster::known_transports() const {
  std::vector<KnownTransport> known;
  for (const auto& [member, entry] : entries_) {
    if (!entry.standing) continue;
    for (const KnownTransport& transport : entry.standing->transports) {
      if (std::find(known.begin(), known.end(), transport) == known.end())
        known.push_back(transport);
    }
  }
  return known;
}

std::set<NodeLabel> Roster::nodes() const {
  std::set<NodeLabel> nodes;
  for (const auto& [member, entry] : entries_) {
    if (entry.standing) nodes.insert({entry.standing->node, entry.standing->host});
  }
  return nodes;
}

std::vector<std::string> Roster::absent(const std::string& node,
                                        const std::string& transport) const {
  std::vector<std::string> found;
  for (const auto& [member, entry] : entries_) {
    if (!entry.standing || (!node.empty() && entry.standing->node != node)) continue;
    for (const std::string& each : entry.standing->report.absent) {
      const bool meant = transport.empty() || each.starts_with(transport + ": ");
      if (meant) found.push_back(entry.standing->name + ": " + each);
    }
  }
  return found;
}

Term Roster::highest_term() const {
  Term highest;
  for (const auto& [member, entry] : entries_) {
    if (entry.standing) highest = std::max(highest, entry.standing->term);
  }
  return highest;
}

std::uint32_t Roster::highest_epoch() const {
  std::uint32_t highest = 0;
  for (const auto& [member, entry] : entries_) {
    if (entry.standing) highest = std::max(highest, entry.standing->epoch);
  }
  return highest;
}

const Standing* Roster::refusal(const Order& order) const {
  for (const auto& [member, entry] : entries_) {
    const bool refused = entry.standing && promised(*entry.standing, order.term) &&
                         entry.standing->refused_seq == order.seq;
    if (refused) return &*entry.standing;
  }
  return nullptr;
}

}  // namespace livebtl::control
