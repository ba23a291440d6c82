// SPDX-License-Identifier: BSD-3-Clause
// control/verbs.h -- what the commands mean, as changes of the job's routing. Pure; docs/SWITCH.md
// has the table.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/ladder_types.h"
#include "control/outcome.h"
#include "livebtl/result.h"

namespace livebtl::control {

/// A verb with its arguments is not applicable, and why.
struct VerbError {
  ExitCode code = ExitCode::kUsage;
  std::string text;
};

/// add | quiesce | remove | switch | set: those that change the routing.
bool is_routing_verb(std::string_view verb) noexcept;

/// What is wrong with `KEY=VALUE ...` of `set`; "": nothing.
std::string assignments_problem(std::span<const std::string> assignments);

/// Replaces aliases ("vader" by "sm") and checks number and form of the arguments. Errors: kUsage,
/// kNotFound.
tl::expected<std::vector<std::string>, VerbError> resolve_arguments(
    std::string_view verb, const std::vector<std::string>& arguments,
    const std::vector<KnownTransport>& transports);

/// The routing after the verb. arguments: from resolve_arguments(). Errors: kRefused (`switch` to a
/// removed one; for a node what the whole job has ruled), kUsage (`set` for a node).
/// node: core::node_name() of the scope, or "" for the job.
tl::expected<Routing, VerbError> apply_verb(std::string_view verb,
                                            const std::vector<std::string>& arguments,
                                            Routing routing, const std::string& node = "");

/// A node of the job, by its id and by what people call it.
struct NodeLabel {
  std::string node, host;
  friend auto operator<=>(const NodeLabel&, const NodeLabel&) = default;
};

/// job or node:NAME?
bool well_formed_scope(std::string_view scope) noexcept;

/// "" or "job" -> ""; "node:NAME", by id or by host -> the id. Errors: kUsage, kNotFound, kRefused
/// (two nodes go by that name).
tl::expected<std::string, VerbError> resolve_scope(const std::string& scope,
                                                   const std::set<NodeLabel>& nodes);

}  // namespace livebtl::control
