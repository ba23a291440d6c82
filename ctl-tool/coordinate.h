// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/coordinate.h -- runs a command that changes a job's routing, or holds the job; this
// process is its coordinator. Wherever it is killed, `btlctl resume`, `btlctl abort` or the hold's
// lease can end what it leaves. One thread; --no-wait forks.
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
