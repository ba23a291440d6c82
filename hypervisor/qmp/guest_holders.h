// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/guest_holders.h -- who in a guest has an RDMA device open, and so may keep a card
// from being unplugged. Used by btlctl's one thread; borrows the agent.
#pragma once

#include "hypervisor/qmp/guest_agent.h"

namespace livebtl::hypervisor {

/// "; in the guest these have an RDMA device open: perf (pid 12, /dev/infiniband/uverbs0)", of
/// which it is not said; the rest is counted. "": nobody has, or it cannot be told.
std::string holders_text(GuestAgent& agent, const Patience& patience);

}  // namespace livebtl::hypervisor
