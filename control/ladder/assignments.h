// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/assignments.h -- the `KEY=VALUE ...` of `set`: what may be set of a transport, and how. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "control/ladder/commands.h"

namespace livebtl::control {

/// What is wrong with them, whatever the transport; "": nothing.
std::string assignments_problem(std::span<const std::string> assignments);
/// What is wrong with all of the arguments: the transport, by its own name, then assignments; "": nothing.
std::string set_problem(const std::vector<std::string>& arguments);
/// Requires: nothing is wrong with the arguments.
void apply_set(const std::vector<std::string>& arguments, Routing& routing);

}  // namespace livebtl::control
