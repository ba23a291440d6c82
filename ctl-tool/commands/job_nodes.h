// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/job_nodes.h -- the nodes that a job has processes on. Run by btlctl's one thread; owns nothing.
#pragma once

#include <string>
#include <vector>

#include "ctl-tool/command.h"
#include "livebtl/result.h"

namespace livebtl::tool {

/// The names of the nodes of all members that the launcher announced. Errors: kNotFound: not all
/// are found within 10 s; kInvalid: a name is not valid, or is that of two nodes.
Result<std::vector<std::string>> nodes_of_job(const CommandLine& line);

}  // namespace livebtl::tool
