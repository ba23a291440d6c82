// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/orders.h -- what a command line orders, as a coordinator of the job takes it. Each call
// draws new numbers: two orders of one line are two operations.
#pragma once

#include <string>

#include "control/ladder/coordinator.h"
#include "control/ladder/hold_machine.h"
#include "ctl-tool/command_line.h"

namespace livebtl::tool {

/// A command that changes the job's routing.
control::Command command_of(const CommandLine& line, const std::string& job);
/// hold start | renew | check | end, job restored.
control::HoldCommand hold_of(const CommandLine& line, const std::string& job);

}  // namespace livebtl::tool
