// SPDX-License-Identifier: BSD-3-Clause
// perf/both.h -- without --job: starts both processes on this machine, each on its own processor if
// there are two, waits for them, and leaves nothing behind. One thread; forks.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "base/exit_code.h"
#include "perf/line.h"

namespace livebtl::perf {

/// The exit code of the rank that knows what happened. With --json, standard output is one
/// document, whoever fails.
ExitCode run_both(Line line);

/// How one of the two processes ended.
struct RankEnd {
  ExitCode code = ExitCode::kDone;
  int signal = 0;  // 0: it ended by itself
};
using Ends = std::array<RankEnd, 2>;  // by rank

/// Rank 0, which measures, unless rank 1 alone failed, or knows better why both did.
std::size_t rank_that_knows(const Ends& ends);
/// For people: "the process of rank 1 was ended by signal 9".
std::string end_text(const RankEnd& end, std::size_t rank);

/// What --dry-run says.
std::string plan_text(const Line& line);

}  // namespace livebtl::perf
