// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/rules.h -- what the verbs make of the rules of a job or of a node. A name may be the word for a family:
// then it rules all of it, and one of it that is taken out leaves the others ruled one by one. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/switch/routing.h"

namespace livebtl::control {

using Names = std::set<std::string>;

/// Do the rules take the transport away? Of a family: each that is known of it.
bool is_away(const core::Rules& rules, const std::string& name, const Names& known = {});

/// Is `name` one of a family that is ruled as a whole, one of which is called as the family is? That one could not be
/// ruled alone.
bool is_inseparable(const core::Rules& rules, const std::string& name, const Names& known);

/// `return` brings back only the transports that were in use.
void apply_checkpoint(const std::vector<std::string>& arguments, core::Rules& rules,
                      const core::Rules& of_job);

/// A verb other than `set` and `checkpoint`. known: all transports of the job.
void apply_rule(std::string_view verb, const std::vector<std::string>& arguments,
                core::Rules& rules, const Names& known);

}  // namespace livebtl::control
