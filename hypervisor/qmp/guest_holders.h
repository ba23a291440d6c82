// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/guest_holders.h -- the processes in a guest that have an RDMA device open, and so
// may keep a card from being unplugged. Used by btlctl's one thread; borrows the agent.
#pragma once

#include "hypervisor/qmp/guest_agent.h"

namespace livebtl::hypervisor {

/// "; in the guest these have an RDMA device open: perf (pid 12, /dev/infiniband/uverbs0)": some of
/// them by name, the rest counted; which device belongs to which card is not known. "": none has,
/// or the guest cannot tell.
std::string holders_text(GuestAgent& agent, const Deadline& deadline);

}  // namespace livebtl::hypervisor
