// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/report.h -- what came of a command, for people (stdout if it is done, else stderr) or as
// a document.
#pragma once

#include "control/ladder/outcome.h"
#include "ctl-tool/command_line.h"

namespace livebtl::tool {

void report(const CommandLine& line, const control::Outcome& outcome);

}  // namespace livebtl::tool
