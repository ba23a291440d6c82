// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/line_checks.h -- what is wrong with a command line that could be read. Pure.
#pragma once

#include <string>

#include "ctl-tool/command_line.h"

namespace livebtl::tool {

/// What is wrong with what stands behind the command; "": nothing.
std::string problem_of_words(const CommandLine& line);

}  // namespace livebtl::tool
