// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/run.h -- btlctl from its arguments to its exit code. One thread.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/exit_code.h"

namespace livebtl::tool {

/// Parses, does, and says what came of it. `stop` becomes true on SIGINT and SIGTERM.
ExitCode run(std::vector<std::string> arguments, const std::atomic<bool>& stop);

}  // namespace livebtl::tool
