// SPDX-License-Identifier: BSD-3-Clause
// core/switch/routing.cc -- which transport a pair uses, computed alike on both ends. Pure.
#include "core/switch/routing.h"

#include <utility>

#include "base/hex.h"

namespace livebtl::core {
namespace {

using Ranked = std::vector<Candidate>;  // exclusivity as tuned; best first

/// What the routing leaves of the reachable ones, moved-from ones included.
Ranked rank(const RoutingView& routing, std::span<const Candidate> reachable) {
  Ranked ranked;
  for (const Candidate& candidate : reachable) {
    if (routing.excluded(candidate.name) || routing.quiesced(candidate.name)) continue;
    const Tuning tuning = routing.tuned(candidate.name);
    ranked.push_back({candidate.name, tuning.exclusivity.value_or(candidate.exclusivity)});
  }
  std::sort(ranked.begin(), ranked.end(), [](const Candidate& one, const Candidate& other) {
    if (one.exclusivity != other.exclusivity) return one.exclusivity > other.exclusivity;
    return one.name < other.name;
  });
  return ranked;
}

bool holds(const Ranked& ranked, const std::string& name) {
  return std::ranges::find(ranked, name, &Candidate::name) != ranked.end();
}

/// Where a pair that would use `name` is moved to: itself, if it is moved nowhere that this pair
/// can use. A chain is followed to its end; a circle, which no command makes, moves nothing.
std::string moved_to(const RoutingView& routing, const Ranked& ranked, const std::string& name) {
  std::string at = name;
  for (std::size_t hops = 0; hops <= ranked.size(); ++hops) {
    const std::string* const to = routing.moved(at);
    // A node's rule may name itself: there the job's is not in force.
    if (to == nullptr || *to == at || !holds(ranked, *to)) return at;
    at = *to;
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
  // Alike on both ends: what two nodes rule differently goes by their names.
  rules_[2] = other == one ? nullptr : of(other);
  if (other < one) std::swap(rules_[1], rules_[2]);
}

bool RoutingView::excluded(const std::string& transport) const noexcept {
  return std::any_of(rules_.begin(), rules_.end(), [&](const Rules* rules) {
    return rules != nullptr &&
           (rules->excluded.contains(transport) || rules->set_aside.contains(transport));
  });
}

bool RoutingView::quiesced(const std::string& transport) const noexcept {
  return std::any_of(rules_.begin(), rules_.end(), [&](const Rules* rules) {
    return rules != nullptr && rules->quiesced.contains(transport);
  });
}

const std::string* RoutingView::moved(const std::string& transport) const noexcept {
  for (const std::size_t special : {1U, 2U, 0U}) {
    if (rules_[special] == nullptr) continue;
    const auto found = rules_[special]->moved.find(transport);
    if (found != rules_[special]->moved.end()) return &found->second;
  }
  return nullptr;
}

std::optional<std::string> choose(const RoutingView& routing,
                                  std::span<const Candidate> reachable) {
  const Ranked ranked = rank(routing, reachable);
  if (ranked.empty()) return std::nullopt;
  return moved_to(routing, ranked, ranked.front().name);
}

std::vector<std::string> permitted(const RoutingView& routing,
                                   std::span<const Candidate> reachable) {
  const Ranked ranked = rank(routing, reachable);
  std::vector<std::string> names;
  if (ranked.empty()) return names;
  names.push_back(moved_to(routing, ranked, ranked.front().name));
  for (const Candidate& candidate : ranked) {
    if (candidate.name == names.front()) continue;
    if (moved_to(routing, ranked, candidate.name) == candidate.name)
      names.push_back(candidate.name);
  }
  return names;
}

std::vector<std::string> connectable(const RoutingView& routing,
                                     std::span<const Candidate> reachable) {
  std::vector<std::string> names;
  for (const Candidate& candidate : reachable) {
    if (!routing.excluded(candidate.name)) names.push_back(candidate.name);
  }
  return names;
}

}  // namespace livebtl::core
