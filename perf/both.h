// SPDX-License-Identifier: BSD-3-Clause
// perf/both.h -- without --job: starts both processes on this machine, each on a processor of its own if there are two,
// waits for them, and leaves nothing behind. One thread; forks.
#pragma once

#include "perf/line.h"

namespace livebtl::perf {

/// The exit code of the process that measured, or of the other one if that alone failed.
ExitCode run_both(Line line);

/// What --dry-run says.
std::string plan_text(const Line& line);

}  // namespace livebtl::perf
