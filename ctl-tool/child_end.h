// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/child_end.h -- how the process ended that --no-wait started. One thread.
#pragma once

#include <sys/types.h>

#include <optional>

#include "base/exit_code.h"

namespace livebtl::tool {

/// Waits for it, whatever signals come meanwhile. nullopt: a signal ended it, or its end cannot be known.
std::optional<ExitCode> end_of_child(pid_t child);

}  // namespace livebtl::tool
