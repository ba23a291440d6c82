// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/assignments.h -- the `KEY=VALUE ...` of `set`: what can be set for a transport,
// and how. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "control/ladder/commands.h"

namespace livebtl::control {

/// What is wrong with the assignments, whatever the transport; "": nothing.
std::string assignments_problem(std::span<const std::string> assignments);
/// What is wrong with the arguments: the transport (no alias), then assignments; "": nothing.
std::string set_problem(const std::vector<std::string>& arguments);
/// Requires: nothing is wrong with the arguments.
void apply_set(const std::vector<std::string>& arguments, Routing& routing);

}  // namespace livebtl::control
