// SPDX-License-Identifier: BSD-3-Clause
// core/switch/routing.cc -- which transport a pair uses, computed alike on both ends. Pure.
#include "core/switch/routing.h"

#include <tuple>
#include <utility>

#include "base/hex.h"
#include "base/transport_name.h"

namespace livebtl::core {
namespace {

using Ranked = Candidates;  // exclusivity as tuned; best first

bool is_better(const Candidate& one, const Candidate& other) noexcept {
  if (one.exclusivity != other.exclusivity) return one.exclusivity > other.exclusivity;
  return std::tie(one.cost, one.name) < std::tie(other.cost, other.name);
}

/// The reachable ones that the routing leaves, including moved-from ones.
Ranked rank(const RoutingView& routing, std::span<const Candidate> reachable) {
  Ranked ranked;
  for (const Candidate& candidate : reachable) {
    if (!routing.leaves(candidate.name)) continue;
    const Tuning tuning = routing.tuned(candidate.name);
    ranked.add(
        {candidate.name, tuning.exclusivity.value_or(candidate.exclusivity), candidate.cost});
    for (auto* at = ranked.end() - 1; at != ranked.begin() && is_better(at[0], at[-1]); --at)
      std::swap(at[0], at[-1]);
  }
  return ranked;
}

/// The best one that `word` means; empty: none.
std::string_view best_of(const Ranked& ranked, std::string_view word) {
  const auto found = std::ranges::find_if(
      ranked, [&](const Candidate& each) { return is_meant_by(each.name, word); });
  return found == ranked.end() ? std::string_view{} : found->name;
}

/// Where a pair that would use `name` is moved to; `name` itself if it can use none of the targets.
/// A chain is followed to its end; a cycle, which no command makes, moves nothing.
std::string_view moved_to(const RoutingView& routing, const Ranked& ranked, std::string_view name) {
  std::string_view at = name;
  for (std::size_t hops = 0; hops <= ranked.size(); ++hops) {
    const std::string* const word = routing.moved(at);
    // A rule may name what it moves: a node's, against the job's; a family's, to one of its own.
    if (word == nullptr || is_meant_by(at, *word)) return at;
    const std::string_view to = best_of(ranked, *word);
    if (to.empty()) return at;
    at = to;
  }
  return name;
}

}  // namespace

std::string node_name(std::uint64_t node) { return hex_digits(node, 16); }

RoutingView::RoutingView(const Routing& routing, std::string_view one, std::string_view other)
    : RoutingView(routing) {
  if (routing.nodes.empty()) return;
  const auto of = [&](std::string_view node) {
    const auto found = routing.nodes.find(std::string(node));
    return found == routing.nodes.end() ? nullptr : &found->second;
  };
  rules_[1] = of(one);
  // Alike on both ends: where two nodes' rules differ, the order of their names decides.
  rules_[2] = other == one ? nullptr : of(other);
  if (other < one) std::swap(rules_[1], rules_[2]);
}

bool RoutingView::excluded(std::string_view transport) const noexcept {
  return std::any_of(rules_.begin(), rules_.end(), [&](const Rules* rules) {
    return rules != nullptr &&
           (covers(rules->excluded, transport) || covers(rules->set_aside, transport));
  });
}

bool RoutingView::quiesced(std::string_view transport) const noexcept {
  return std::any_of(rules_.begin(), rules_.end(), [&](const Rules* rules) {
    return rules != nullptr && covers(rules->quiesced, transport);
  });
}

const std::string* RoutingView::moved(std::string_view transport) const noexcept {
  for (const std::size_t special : {1U, 2U, 0U}) {
    if (rules_[special] == nullptr) continue;
    if (const std::string* const to = value_for(rules_[special]->moved, transport)) return to;
  }
  return nullptr;
}

std::optional<std::string> choose(const RoutingView& routing,
                                  std::span<const Candidate> reachable) {
  const Ranked ranked = rank(routing, reachable);
  if (ranked.empty()) return std::nullopt;
  return std::string(moved_to(routing, ranked, ranked.front().name));
}

std::vector<std::string> permitted(const RoutingView& routing,
                                   std::span<const Candidate> reachable) {
  const Ranked ranked = rank(routing, reachable);
  std::vector<std::string> names;
  if (ranked.empty()) return names;
  names.reserve(ranked.size());
  names.emplace_back(moved_to(routing, ranked, ranked.front().name));
  for (const Candidate& candidate : ranked) {
    if (candidate.name == names.front()) continue;
    if (moved_to(routing, ranked, candidate.name) == candidate.name)
      names.emplace_back(candidate.name);
  }
  return names;
}

std::vector<std::string> connectable(const RoutingView& routing,
                                     std::span<const Candidate> reachable) {
  std::vector<std::string> names;
  for (const Candidate& candidate : reachable) {
    if (!routing.excluded(candidate.name)) names.emplace_back(candidate.name);
  }
  return names;
}

}  // namespace livebtl::core
