// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/scope.h -- what a command applies to: the whole job, or one node of it. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "control/ladder/commands.h"

namespace livebtl::control {

/// job or node:NAME?
bool well_formed_scope(std::string_view scope) noexcept;

/// A node of the job, by its id and by what people call it.
struct NodeLabel {
  std::string node, host;
  friend auto operator<=>(const NodeLabel&, const NodeLabel&) = default;
};

/// "" or "job" -> ""; "node:NAME", by id or by host -> the id. Errors: kUsage, kNotFound, kRefused
/// (two nodes go by that name).
tl::expected<std::string, VerbError> resolve_scope(const std::string& scope,
                                                   const std::set<NodeLabel>& nodes);

/// Do a node's rules say otherwise about the transports that a command for the whole job changes?
bool rules_otherwise(const core::Rules& rules, const std::string& verb,
                     const std::vector<std::string>& arguments);

/// Does the routing take more space than before, and more than a message has for it?
bool outgrows(const Routing& after, const Routing& before);

}  // namespace livebtl::control
