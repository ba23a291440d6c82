// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/restore/restore_vms.h -- btlctl vm restore. Used by btlctl's one thread; owns nothing.
#pragma once

#include "hypervisor/set/set_run.h"

namespace livebtl::hypervisor {

/// The request's machines have no cards: the set lists them. `stop`: the user wants the machines
/// back.
Report restore_vms(SetRequest request, const std::atomic<bool>& stop, const Progress& progress);

}  // namespace livebtl::hypervisor
