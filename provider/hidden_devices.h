// SPDX-License-Identifier: BSD-3-Clause
// provider/hidden_devices.h -- keeps libfabric's own verbs provider from opening RDMA devices in
// the processes of a job (docs/adr/0008-hidden-devices.md).
//
// It would open each at the program's first question for providers and never close it, so that no
// device could be taken away under a job that does not use it. libfabric and librdmacm are told
// that there is none; our own verbs transport, and whoever else calls libibverbs, sees them all.
// Called once, by the thread that loads the provider.
#pragma once

#include <functional>

#include "livebtl/result.h"

namespace livebtl::fi {

/// A variable of the environment; nullptr: not set.
using Environment = std::function<const char*(const char* name)>;

/// Is this process of a job that livebtl is to carry, and LIVEBTL_HIDE_DEVICES not off?
bool devices_are_to_be_hidden(const Environment& environment);

/// From now on libfabric and librdmacm find no RDMA device. Errors: kUnsupported, kSystem: why not,
/// and what follows.
Status hide_devices();

}  // namespace livebtl::fi
