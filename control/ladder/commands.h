// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/commands.h -- what the commands mean, as changes of the job's routing. Pure; docs/SWITCH.md
// has the table.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/ladder/ladder_types.h"
#include "control/ladder/outcome.h"
#include "livebtl/result.h"

namespace livebtl::control {

/// A verb with its arguments is not applicable, and why.
struct VerbError {
  ExitCode code = ExitCode::kUsage;
  std::string text;
};
inline tl::unexpected<VerbError> no(ExitCode code, std::string text) {
  return tl::unexpected<VerbError>(VerbError{code, std::move(text)});
}

/// add | quiesce | remove | switch | set | checkpoint: those that change the routing.
/// `checkpoint` takes "prepare", with transports (none: all that are bound to a device), or
/// "return".
bool is_routing_verb(std::string_view verb) noexcept;

/// remove, and checkpoint prepare: at the end nothing of ours is left on the transports they take away.
bool releases(std::string_view verb, const std::vector<std::string>& arguments) noexcept;

/// checkpoint return: the transports it brings back may be absent.
bool is_return(std::string_view verb, const std::vector<std::string>& arguments) noexcept;

/// add, switch: the transport that is to be used; "" of any other verb.
std::string wanted_by(std::string_view verb, const std::vector<std::string>& arguments);

/// Replaces aliases ("vader" by "sm") and checks number and form of the arguments. A word for a family ("verbs", where
/// there are "verbs:mlx5_0" and "verbs:mlx5_1") stays, and means all of it. Errors: kUsage, kNotFound.
tl::expected<std::vector<std::string>, VerbError> resolve_arguments(
    std::string_view verb, const std::vector<std::string>& arguments,
    const std::vector<KnownTransport>& transports);

/// The routing after the verb. arguments: from resolve_arguments(). Errors: kRefused (`switch` to a
/// removed one; for a node what the whole job has ruled; more nodes with rules of their own than a
/// message can tell), kUsage (`set` for a node).
/// node: core::node_name() of the scope, or "" for the job. known: all transports of the job, of which those stay ruled
/// whose family is ruled as a whole when one of it is taken out.
tl::expected<Routing, VerbError> apply_verb(std::string_view verb,
                                            const std::vector<std::string>& arguments,
                                            const Routing& routing, const std::string& node = "",
                                            const std::set<std::string>& known = {});

}  // namespace livebtl::control
