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
/// ... and with them for that one. transport: its own name. Requires: nothing else is wrong.
std::string not_of_transport(const std::string& transport,
                             std::span<const std::string> assignments);
/// arguments: the transport, then assignments. Requires: nothing is wrong with them.
void apply_set(const std::vector<std::string>& arguments, Routing& routing);

}  // namespace livebtl::control
