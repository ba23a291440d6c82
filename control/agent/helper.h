// SPDX-License-Identifier: BSD-3-Clause
// control/agent/helper.h -- starts livebtl-relay beside an application that must not notice.
//
// The new process has its own session, /dev/null for stdio, none of our other descriptors, and
// almost none of our environment. It is not a child of this process: no SIGCHLD comes, and wait()
// does not find it. No fork handler runs and no memory is copied. Threads: any with all signals
// blocked (signals.h).
#pragma once

#include <string>
#include <vector>

#include "livebtl/result.h"

namespace livebtl::control {

/// The program: `wanted` unless empty, else livebtl/livebtl-relay next to the library or program
/// that contains this code.
std::string helper_program(const std::string& wanted);

/// Returns once it runs. Needs no descriptor. Errors: kSystem (no such program, or no process can
/// be made), kNoMemory.
Status start_helper(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace livebtl::control
