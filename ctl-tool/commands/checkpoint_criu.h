// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/checkpoint_criu.h -- the actions of checkpoint that call CRIU.
#pragma once

#include "ctl-tool/command.h"

namespace livebtl::tool {

extern const Command kCheckpointRun, kCheckpointRestore, kCheckpointNode;

}  // namespace livebtl::tool
