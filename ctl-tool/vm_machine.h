// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/vm_machine.h -- one --vm of vm snapshot and vm restore. Pure.
#pragma once

#include "hypervisor/set/set_steps.h"

namespace livebtl::tool {

/// NAME,qmp=SOCKET[,ga=SOCKET][,card=ID]...
Result<hypervisor::MachinePlace> read_machine(const std::string& text);

}  // namespace livebtl::tool
