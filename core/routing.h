// SPDX-License-Identifier: BSD-3-Clause
// core/routing.h -- the job's routing decision: which transports may be used, and which is
// preferred.
//
// A value: equal on all members in one epoch. Path sets are computed from it and from what both
// ends reach, never stored. Pure; docs/SWITCH.md describes the commands in its terms.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace livebtl::core {

struct Tuning {
  std::optional<std::uint32_t> exclusivity;  // unset: the transport's default
  std::optional<std::uint32_t> weight;       // share of striped traffic; unset: by bandwidth
  friend bool operator==(const Tuning&, const Tuning&) = default;
};

struct Routing {
  std::set<std::string> excluded;  // removed: closed, never used
  std::set<std::string>
      quiesced;  // takes no new traffic; stays connectable; not used for fail-over
  std::map<std::string, std::string>
      moved;  // FROM -> TO: pairs that would use FROM and reach TO use TO
  std::map<std::string, Tuning> tuning;
  friend bool operator==(const Routing&, const Routing&) = default;
};

/// A transport that both ends of a pair reach.
struct Candidate {
  std::string name;
  std::uint32_t exclusivity = 0;  // default
};

/// The transport a pair uses for its ordered lane; nullopt: none is permitted.
std::optional<std::string> choose(const Routing& routing, std::span<const Candidate> reachable);
/// What a pair may use, in order of preference: choose()'s answer first, then the others for
/// fail-over, without excluded, quiesced and moved-from ones. Equal on both ends, whatever the
/// order of `reachable`.
std::vector<std::string> permitted(const Routing& routing, std::span<const Candidate> reachable);
/// What a pair may connect over, quiesced ones too: for a hello, not for traffic.
std::vector<std::string> connectable(const Routing& routing, std::span<const Candidate> reachable);

}  // namespace livebtl::core
