// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/commands.h -- what the commands mean, as changes to the job's routing. Pure; the
// table is in docs/SWITCH.md.
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

/// Why a verb cannot be applied with its arguments.
struct VerbError {
  ExitCode code = ExitCode::kUsage;
  std::string text;
};
inline tl::unexpected<VerbError> no(ExitCode code, std::string text) {
  return tl::unexpected<VerbError>(VerbError{code, std::move(text)});
}

/// add | quiesce | remove | switch | set | checkpoint: the verbs that change the routing.
/// `checkpoint` takes "prepare", with transports (none: all that are bound to a device), or
/// "return".
bool is_routing_verb(std::string_view verb) noexcept;

/// remove, checkpoint prepare: at the end nothing of ours is left on the transports that they take
/// away.
bool releases(std::string_view verb, const std::vector<std::string>& arguments) noexcept;

/// checkpoint return: the transports it brings back may be absent.
bool is_return(std::string_view verb, const std::vector<std::string>& arguments) noexcept;

/// add, switch: the transport that is to be used; "" for any other verb.
std::string wanted_by(std::string_view verb, const std::vector<std::string>& arguments);

/// Replaces aliases ("vader" by "sm") and checks the number and form of the arguments. A family's
/// name ("verbs", where there are "verbs:mlx5_0" and "verbs:mlx5_1") stays, and means the whole
/// family. Errors: kUsage, kNotFound.
tl::expected<std::vector<std::string>, VerbError> resolve_arguments(
    std::string_view verb, const std::vector<std::string>& arguments,
    const std::vector<KnownTransport>& transports);

/// The routing after the verb. arguments: from resolve_arguments(). Errors: kRefused (`switch` to a
/// removed transport; for a node, use of a transport against a rule of the job; more nodes with
/// rules of their own than fit into a message), kUsage (`set` for a node).
/// node: core::node_name() of the scope, or "" for the job. known: all transports of the job; when
/// one is taken out of its family's rule, the others of the family stay ruled.
tl::expected<Routing, VerbError> apply_verb(std::string_view verb,
                                            const std::vector<std::string>& arguments,
                                            const Routing& routing, const std::string& node = "",
                                            const std::set<std::string>& known = {});

}  // namespace livebtl::control
