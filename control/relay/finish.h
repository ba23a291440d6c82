// SPDX-License-Identifier: BSD-3-Clause
// control/relay/finish.h -- does for a member what `btlctl resume` would do, if that is this node's
// task or those ahead of it have had their time.
//
// A process of its own, as long as that takes; it ends early if the member that started it does.
// Threads: the main one, and one that watches that member.
#pragma once

#include <string>

#include "livebtl/types.h"

namespace livebtl::control {

struct FinishFacts {
  std::string directory;  // the job's
  std::string node;       // its name in cards
  std::string job;
  ProcessId member{};       // started this, and is told how it ends
  bool left_alone = false;  // by the lowest node, which may know of nothing to finish
};

/// Returns the process's exit code.
int finish_ladder(const FinishFacts& facts);

}  // namespace livebtl::control
