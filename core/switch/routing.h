// SPDX-License-Identifier: BSD-3-Clause
// core/switch/routing.h -- the job's routing decision: which transports may be used, and which is
// preferred.
//
// A value, equal on all members in one epoch. Path sets are computed from it, from the nodes of the
// two ends and from what both reach; they are never stored. Pure; docs/SWITCH.md describes the
// commands in its terms.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/single_copy.h"
#include "base/transport_name.h"

namespace livebtl::core {

struct Tuning {
  std::optional<std::uint32_t> exclusivity;  // unset: the transport's default
  std::optional<std::uint32_t> weight;       // share of striped traffic; unset: by bandwidth
  std::optional<SingleCopy> single_copy;     // of sm; unset: as each process was started
  friend bool operator==(const Tuning&, const Tuning&) = default;
};

/// 16 hexadecimal digits, as `btlctl status` shows them and scopes name them.
std::string node_name(std::uint64_t node);

/// What commands have ruled, by transport. A family's name ("verbs") rules all its transports
/// ("verbs:mlx5_0"), which need not be known before a process that has them joins.
struct Rules {
  std::set<std::string> excluded;  // removed: closed, never used
  std::set<std::string> quiesced;  // no new traffic; stays connectable; not used for fail-over
  std::map<std::string, std::string> moved;  // FROM -> TO: a pair that would use FROM uses TO
  // Treated as excluded from `checkpoint prepare` until `checkpoint return`.
  std::set<std::string> set_aside;
  friend bool operator==(const Rules&, const Rules&) = default;
};

/// Is the transport in the set, by its name or by its family's? Rules are few: they are read in
/// order, as each step of a ladder asks for every peer.
inline bool covers(const std::set<std::string>& ruled, std::string_view transport) noexcept {
  return std::any_of(ruled.begin(), ruled.end(),
                     [&](const std::string& word) { return is_meant_by(transport, word); });
}
/// The value that the map has for the transport, by its name or else by its family's; nullptr: none.
template <class Value>
const Value* value_for(const std::map<std::string, Value>& map,
                       std::string_view transport) noexcept {
  const Value* of_family = nullptr;
  for (const auto& [word, value] : map) {
    if (word == transport) return &value;
    if (word == family_of(transport)) of_family = &value;
  }
  return of_family;
}

/// For the whole job and, in addition, for single nodes (by node_name()).
struct Routing : Rules {
  std::map<std::string, Tuning> tuning;
  std::map<std::string, Rules> nodes;  // without empty ones
  friend bool operator==(const Routing&, const Routing&) = default;

  /// The transport's tuning; what that does not set comes from its family's, or stays unset.
  Tuning tuned(std::string_view transport) const;
};

inline Tuning Routing::tuned(std::string_view transport) const {
  Tuning tuned;
  if (tuning.empty()) return tuned;
  for (const std::string_view word : {transport, family_of(transport)}) {
    const auto found = tuning.find(std::string(word));
    if (found == tuning.end()) continue;
    if (!tuned.exclusivity) tuned.exclusivity = found->second.exclusivity;
    if (!tuned.weight) tuned.weight = found->second.weight;
    if (!tuned.single_copy) tuned.single_copy = found->second.single_copy;
  }
  return tuned;
}

/// The routing as it applies to one process, or to one pair: the job's rules and those of the nodes
/// that it touches. Refers to the routing, which must outlive it.
class RoutingView {
 public:
  /// The job's rules alone.
  RoutingView(const Routing& routing)
      : routing_(&routing), rules_{&routing} {}  // NOLINT(*-explicit-*)
  /// Names of nodes; "": not known, and so without rules.
  RoutingView(const Routing& routing, std::string_view one, std::string_view other = "");

  bool excluded(std::string_view transport) const noexcept;
  bool quiesced(std::string_view transport) const noexcept;
  /// Neither.
  bool leaves(std::string_view transport) const noexcept {
    return !excluded(transport) && !quiesced(transport);
  }
  /// Where pairs that would use `transport` are moved, by the most specific rule; nullptr: nowhere.
  /// It may be a family.
  const std::string* moved(std::string_view transport) const noexcept;
  Tuning tuned(std::string_view transport) const { return routing_->tuned(transport); }

 private:
  const Routing* routing_;
  std::array<const Rules*, 3> rules_{};  // of the job, of one node, of the other; or nullptr
};

/// A transport that both ends of a pair reach.
struct Candidate {
  std::string_view name;          // whose text outlives it
  std::uint32_t exclusivity = 0;  // default
  std::uint32_t cost = 0;  // as Transport::cost(); at equal exclusivity the lowest comes first
};

/// Several, at most kTransportsMax, without memory from the heap: they are computed for every peer in
/// each step of a ladder.
class Candidates {
 public:
  void add(const Candidate& candidate) noexcept {
    LIVEBTL_ASSERT(count_ < all_.size(), "a process has at most kTransportsMax transports");
    all_[count_++] = candidate;
  }
  bool empty() const noexcept { return count_ == 0; }
  std::size_t size() const noexcept { return count_; }
  const Candidate& front() const noexcept { return all_.front(); }
  Candidate* begin() noexcept { return all_.data(); }
  Candidate* end() noexcept { return all_.data() + count_; }
  const Candidate* begin() const noexcept { return all_.data(); }
  const Candidate* end() const noexcept { return all_.data() + count_; }

 private:
  std::array<Candidate, kTransportsMax> all_;
  std::size_t count_ = 0;
};

/// The transport that a pair uses for its ordered lane; nullopt: none is permitted.
std::optional<std::string> choose(const RoutingView& routing, std::span<const Candidate> reachable);
/// What a pair may use, in order of preference: choose()'s answer first, then the others for
/// fail-over, without excluded, quiesced and moved-from ones. Equal on both ends, whatever the
/// order of `reachable`.
std::vector<std::string> permitted(const RoutingView& routing,
                                   std::span<const Candidate> reachable);
/// What a pair may connect over, quiesced ones too: for a hello, not for traffic.
std::vector<std::string> connectable(const RoutingView& routing,
                                     std::span<const Candidate> reachable);

}  // namespace livebtl::core
