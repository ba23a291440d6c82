// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/node_side.h -- one node's part in a dump or restore of several nodes: `btlctl
// checkpoint node`, told line by line what to do (node_words.h). Blocks btlctl's one thread; owns
// nothing afterwards.
//
// The caller may disappear at any time, even without a word: after each answer it has the order's
// time-out plus a minute for its next word. Unless told to go, a dumping CRIU lets the processes go
// on.
#pragma once

#include "hypervisor/criu/criu_job.h"
#include "hypervisor/criu/node_door.h"

namespace livebtl::hypervisor {

/// `tools`: the programs, and what finds the job; the rest comes through the door. Returns an exit
/// code.
int serve_node(const CriuRequest& tools, const NodeDoor& door);

}  // namespace livebtl::hypervisor
