// SPDX-License-Identifier: BSD-3-Clause
// control/agent/join.h -- how a starting process learns where the job stands, from a member that
// knows.
#pragma once

#include <atomic>

#include "control/ladder/member.h"
#include "control/place/job.h"

namespace livebtl::control {

/// Asks the joined members of this node, a few more at each try, until one answers. One answer is
/// enough: all members are within one rung of each other, and a coordinator that scanned before we
/// could be found scans again before it goes on. Requires: this process's file is published.
/// Blocks; ends early when `stop` is set. Errors: kTimeout (there are members, but none answers),
/// kNoMemory (no descriptor to look for them), kCancelled.
Result<MemberEvent> learn_standing(const JobFacts& job, ProcessId self,
                                   const std::atomic<bool>& stop);

}  // namespace livebtl::control
