// SPDX-License-Identifier: BSD-3-Clause
// perf/take_part.h -- one of the two processes from its start to its end: settings, engine,
// meeting, measurements, report. One thread, besides the engine's.
#pragma once

#include <optional>

#include "perf/line.h"

namespace livebtl::perf {

/// What the process that starts both decides for each.
struct Place {
  std::optional<int> processor;  // to be bound to
  bool one_machine = false;      // nothing has to go over a network
};

/// line: with job, rank and a directory to meet in. Prints; returns the program's exit code.
ExitCode take_part(const Line& line, const Place& place);

/// kDone: the picture can be written, as far as can be told before; it is not there yet. Else as
/// end_with().
ExitCode try_plot(const Line& line);

/// Errors go to standard error, and with --json a document about them to standard output.
ExitCode end_with(const Line& line, ExitCode code, const std::string& text);

}  // namespace livebtl::perf
