// SPDX-License-Identifier: BSD-3-Clause
// provider/hidden_devices.h -- keeps libfabric's own verbs provider from opening RDMA devices in
// the processes of a job (docs/adr/0008-hidden-devices.md).
//
// That provider would open each device at the program's first fi_getinfo() and never close it, so
// that none could be taken away under a job that does not use it. libfabric and librdmacm are told
// that there is none; our own verbs transport, and all other callers of libibverbs, see them all.
//
// Threads: called once, by the thread that loads the provider.
#pragma once

#include <string>
#include <vector>

#include "livebtl/result.h"
#include "provider/named.h"

namespace livebtl::fi {

/// Is this process of a job that livebtl is to carry, and HIDE_DEVICES not off? files: the settings' (config_paths()),
/// read only where a variable does not say. One that is wrong says nothing here: the engine's start tells of it.
bool devices_are_to_be_hidden(const Environment& environment, const Parameters& parameters,
                              const std::vector<std::string>& files);

/// From now on libfabric and librdmacm find no RDMA device.
/// Errors: kUnsupported, kSystem; the text says why not, and what follows from that.
Status hide_devices();

}  // namespace livebtl::fi
