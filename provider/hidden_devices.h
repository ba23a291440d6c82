// SPDX-License-Identifier: BSD-3-Clause
// provider/hidden_devices.h -- keeps libfabric's own verbs provider from opening RDMA devices in
// the processes of a job (docs/adr/0008-hidden-devices.md).
//
// That provider would open each device at the program's first fi_getinfo() and never close it, so
// that none could be removed under a job that does not use it. We make libfabric and librdmacm find
// none; our own verbs transport, and all other callers of libibverbs, see them all.
//
// Threads: called once, by the thread that loads the provider.
#pragma once

#include <string>
#include <vector>

#include "livebtl/result.h"
#include "provider/named.h"

namespace livebtl::fi {

/// Does this process belong to a job that is to run over livebtl, and is HIDE_DEVICES not off?
/// files: the settings files (config_paths()), read only if no variable decides. Errors in them are
/// ignored here: the engine reports them when it starts.
bool devices_are_to_be_hidden(const Environment& environment, const Parameters& parameters,
                              const std::vector<std::string>& files);

/// From now on libfabric and librdmacm find no RDMA device.
/// Errors: kUnsupported, kSystem; the text says why not, and what follows.
Status hide_devices();

}  // namespace livebtl::fi
