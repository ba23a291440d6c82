// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/rules.h -- how the verbs change the rules of a job or of a node. A name may be
// that of a family: it then rules all of its transports; taking one out leaves the others ruled one
// by one. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/switch/routing.h"

namespace livebtl::control {

using Names = std::set<std::string>;

/// Do the rules take the transport away? For a family: every known transport of it?
bool is_away(const core::Rules& rules, const std::string& name, const Names& known = {});

/// Is `name` one of a family that is ruled as a whole and has a transport of the family's own name?
/// That transport could not be ruled alone.
bool is_inseparable(const core::Rules& rules, const std::string& name, const Names& known);

/// `prepare` sets aside only transports in use: `return` brings back no others.
void apply_checkpoint(const std::vector<std::string>& arguments, core::Rules& rules,
                      const core::Rules& of_job);

/// A verb other than `set` and `checkpoint`. known: all transports of the job.
void apply_rule(std::string_view verb, const std::vector<std::string>& arguments,
                core::Rules& rules, const Names& known);

}  // namespace livebtl::control
