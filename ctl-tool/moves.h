// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/moves.h -- which rules of `switch` are in force in a job, as a line for people. Run by btlctl's one thread; owns
// nothing.
#pragma once

#include <string>
#include <vector>

#include "control/ladder/ladder_types.h"

namespace livebtl::tool {

/// "sm to tcp, verbs to tcp on node1": where pairs go that would use the first transport; the job's
/// rules before those of nodes. From the standing that is furthest, since standings differ during a
/// switch. "": no rules.
std::string moves_in_force(const std::vector<const control::Standing*>& standings);

}  // namespace livebtl::tool
