// SPDX-License-Identifier: BSD-3-Clause
// control/agent/join.h -- how a process that starts learns where the job stands, from a member that
// knows.
#pragma once

#include <atomic>

#include "control/ladder/member.h"
#include "control/place/job.h"

namespace livebtl::control {

/// Asks the joined members of this node, a few more at each try, until one answers. One answer is
/// enough: all members stand within one rung, and a coordinator that looked before we could be
/// found looks again before it goes on. Requires: this process's file is published already. Blocks;
/// ends early when `stop` is set. Errors: kTimeout (members are there, and none answers),
/// kNoMemory (no descriptor to look for them), kCancelled.
Result<MemberEvent> learn_standing(const JobFacts& job, ProcessId self,
                                   const std::atomic<bool>& stop);

}  // namespace livebtl::control
