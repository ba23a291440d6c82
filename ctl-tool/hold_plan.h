// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/hold_plan.h -- what `checkpoint prepare --hold --dry-run` says of the hold.
#pragma once

#include <atomic>
#include <optional>

#include "control/client/job_links.h"
#include "control/ladder/outcome.h"
#include "ctl-tool/command_line.h"

namespace livebtl::tool {

/// What `hold start` would answer now; nothing is changed. Null: interrupted.
std::optional<control::Outcome> plan_hold(const CommandLine& line, control::JobLinks& links,
                                          const std::atomic<bool>& stop);

}  // namespace livebtl::tool
