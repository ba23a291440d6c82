// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/snapshot/snapshot_vms.h -- btlctl vm snapshot. Used by btlctl's one thread; owns
// nothing.
#pragma once

#include "hypervisor/set/set_run.h"

namespace livebtl::hypervisor {

/// `stop`: the user wants the machines back.
Report snapshot_vms(const SetRequest& request, const std::atomic<bool>& stop,
                    const Progress& progress);

}  // namespace livebtl::hypervisor
