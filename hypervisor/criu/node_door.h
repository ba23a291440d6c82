// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/node_door.h -- how a node's btlctl hears its caller, and answers: in lines, over
// two descriptors. Used by btlctl's one thread.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"

namespace livebtl::hypervisor {

struct NodeDoor {
  /// The next line; nullopt if the caller is gone, or says nothing in that time.
  std::function<std::optional<std::string>(TimeNs within)> hear;
  std::function<void(const std::string&)> say;
};

/// A door over these two descriptors, which outlive it. This process ignores SIGPIPE from then on:
/// a caller that is gone must not end it, as processes that it has frozen or restored wait for what
/// it does next.
NodeDoor node_door(int input, int output);

}  // namespace livebtl::hypervisor
