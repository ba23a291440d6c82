// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/node_door.h -- how a node's btlctl hears who called it, and answers: by lines, over two descriptors. Used
// by btlctl's one thread.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"

namespace livebtl::hypervisor {

struct NodeDoor {
  /// The next line; nullopt: nobody is there any more, or has said anything in that time.
  std::function<std::optional<std::string>(TimeNs within)> hear;
  std::function<void(const std::string&)> say;
};

/// Over these two, which outlive it. This process ignores SIGPIPE from then on: a caller that is gone must not end it, for
/// processes that it has frozen, or restored, wait for what it does next.
NodeDoor node_door(int input, int output);

}  // namespace livebtl::hypervisor
