// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/hold.h -- what other commands use of hold's: checkpoint prepare --hold, and job
// restored.
#pragma once

#include <atomic>
#include <optional>

#include "base/exit_code.h"
#include "control/client/job_links.h"
#include "control/ladder/outcome.h"
#include "ctl-tool/command_line.h"

namespace livebtl::tool {

/// hold start | renew | check | end, job restored: as the command line says.
ExitCode run_hold(const CommandLine& line, const std::atomic<bool>& stop);

/// What `hold start` would answer now; nothing is changed. nullopt: interrupted.
std::optional<control::Outcome> plan_hold(const CommandLine& line, control::JobLinks& links,
                                          const std::atomic<bool>& stop);

}  // namespace livebtl::tool
