// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/node_side.h -- one node's part in a dump or a restore of several: `btlctl checkpoint node`, told line by
// line what to do (node_words.h). Blocks btlctl's one thread; owns nothing afterwards.
//
// The caller may be gone at any time: unless it has been told to go CRIU lets the processes go on.
#pragma once

#include <optional>

#include "hypervisor/criu/criu_job.h"

namespace livebtl::hypervisor {

struct NodeDoor {
  std::function<std::optional<std::string>()> hear;  // nullopt: nobody is there any more
  std::function<void(const std::string&)> say;
};

/// `tools`: the programs, and what finds the job; the rest comes by the door. Returns an exit code.
int serve_node(const CriuRequest& tools, const NodeDoor& door);

}  // namespace livebtl::hypervisor
