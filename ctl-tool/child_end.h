// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/child_end.h -- how the child that --no-wait forked has ended. One thread.
#pragma once

#include <sys/types.h>

#include <optional>

#include "base/exit_code.h"

namespace livebtl::tool {

/// Waits for the child; signals do not cut the wait short. nullopt: a signal killed it, or its end
/// is unknown.
std::optional<ExitCode> end_of_child(pid_t child);

}  // namespace livebtl::tool
