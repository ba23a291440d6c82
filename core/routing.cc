// SPDX-License-Identifier: BSD-3-Clause
// core/routing.cc -- which transport a pair uses, computed alike on both ends. Pure.
#include "core/routing.h"

namespace livebtl::core {
namespace {

using Ranked = std::vector<Candidate>;  // exclusivity as tuned; best first

/// What the routing leaves of the reachable ones, moved-from ones included.
Ranked rank(const Routing& routing, std::span<const Candidate> reachable) {
  Ranked ranked;
  for (const Candidate& candidate : reachable) {
    if (routing.excluded.contains(candidate.name) || routing.quiesced.contains(candidate.name))
      continue;
    ranked.push_back(candidate);
    const auto tuning = routing.tuning.find(candidate.name);
    if (tuning == routing.tuning.end()) continue;
    ranked.back().exclusivity = tuning->second.exclusivity.value_or(candidate.exclusivity);
  }
  std::sort(ranked.begin(), ranked.end(), [](const Candidate& one, const Candidate& other) {
    if (one.exclusivity != other.exclusivity) return one.exclusivity > other.exclusivity;
    return one.name < other.name;
  });
  return ranked;
}

bool holds(const Ranked& ranked, const std::string& name) {
  return std::any_of(ranked.begin(), ranked.end(),
                     [&name](const Candidate& candidate) { return candidate.name == name; });
}

/// Where a pair that would use `name` is moved to: itself, if it is moved nowhere that this pair
/// can use. A chain is followed to its end; a circle, which no command makes, moves nothing.
std::string moved_to(const Routing& routing, const Ranked& ranked, const std::string& name) {
  std::string at = name;
  for (std::size_t hops = 0; hops <= ranked.size(); ++hops) {
    const auto move = routing.moved.find(at);
    if (move == routing.moved.end() || !holds(ranked, move->second)) return at;
    at = move->second;
  }
  return name;
}

}  // namespace

std::optional<std::string> choose(const Routing& routing, std::span<const Candidate> reachable) {
  const Ranked ranked = rank(routing, reachable);
  if (ranked.empty()) return std::nullopt;
  return moved_to(routing, ranked, ranked.front().name);
}

std::vector<std::string> permitted(const Routing& routing, std::span<const Candidate> reachable) {
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

std::vector<std::string> connectable(const Routing& routing, std::span<const Candidate> reachable) {
  std::vector<std::string> names;
  for (const Candidate& candidate : reachable) {
    if (!routing.excluded.contains(candidate.name)) names.push_back(candidate.name);
  }
  return names;
}

}  // namespace livebtl::core
