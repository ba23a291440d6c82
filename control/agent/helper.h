// SPDX-License-Identifier: BSD-3-Clause
// control/agent/helper.h -- starts livebtl-relay beside an application that must not notice.
//
// The new process has its own session, /dev/null for stdio, no other descriptor of ours, and almost nothing of
// the environment. It is no child of this process: there is no SIGCHLD, and wait() does not find it. No
// fork handler runs and no memory is copied. Threads: any that has all signals blocked (signals.h).
#pragma once

#include <string>
#include <vector>

#include "livebtl/result.h"

namespace livebtl::control {

/// The program: `wanted` if it is not empty, else livebtl/livebtl-relay beside the library or program that this
/// code is in.
std::string helper_program(const std::string& wanted);

/// Returns when it runs. Takes no descriptor. Errors: kSystem (there is no such program, or no
/// process can be made), kNoMemory.
Status start_helper(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace livebtl::control
