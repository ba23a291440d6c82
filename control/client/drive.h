// SPDX-License-Identifier: BSD-3-Clause
// control/client/drive.h -- runs a coordinator over a job's links until it is done.
//
// Threads: the caller's; blocks. Killed at any point, it leaves nothing that `resume` or `abort`
// cannot finish.
#pragma once

#include <atomic>
#include <functional>

#include "control/client/job_links.h"
#include "control/ladder/coordinator.h"
#include "control/ladder/hold_machine.h"

namespace livebtl::control {

/// on_progress: may be empty. stop: once true, the drive ends where it is and returns nullopt.
std::optional<Outcome> drive(JobLinks& links, const Command& command,
                             const std::function<void(const Progress&)>& on_progress,
                             const std::atomic<bool>& stop);
/// The same for the machine that holds a job. Ended by `stop`, it leaves a hold for `hold end` or
/// the lease to end.
std::optional<Outcome> drive(JobLinks& links, const HoldCommand& command,
                             const std::function<void(const HoldProgress&)>& on_progress,
                             const std::atomic<bool>& stop);

}  // namespace livebtl::control
