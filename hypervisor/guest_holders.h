// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/guest_holders.h -- who in a guest has an RDMA device open, and so keeps its card from
// being unplugged. Used by btlctl's one thread; borrows the agent.
#pragma once

#include "hypervisor/guest_agent.h"

namespace livebtl::hypervisor {

/// "; held in the guest by ibv_asyncwatch (pid 12)"; "": by nobody, or it cannot be told.
std::string holders_text(GuestAgent& agent, const Patience& patience);

}  // namespace livebtl::hypervisor
