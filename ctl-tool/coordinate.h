// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/coordinate.h -- runs a command that changes the routing of a job, or holds it: this process
// is the coordinator while it lasts. Killed at any point it leaves nothing that `btlctl resume`, `btlctl
// abort` or the lease of a hold cannot end. One thread; --no-wait forks.
#pragma once

#include <atomic>

#include "base/exit_code.h"
#include "ctl-tool/command_line.h"

namespace livebtl::tool {

/// With --hold the job is held afterwards.
ExitCode run_ladder(const CommandLine& line, const std::atomic<bool>& stop);
/// hold start | renew | check | end, job restored: as the command line says.
ExitCode run_hold(const CommandLine& line, const std::atomic<bool>& stop);

}  // namespace livebtl::tool
