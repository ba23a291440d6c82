// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/migrate/migrate_vm.h -- btlctl vm migrate: the machine of migrate_machine.h driven by
// the steps of migrate_steps.h. Used by btlctl's one thread; owns nothing.
#pragma once

#include "hypervisor/migrate/migrate_machine.h"
#include "hypervisor/migrate/migrate_steps.h"
#include "hypervisor/plan/report.h"

namespace livebtl::hypervisor {

/// `stop`: the user wants the machine back.
Report migrate_vm(const MigrateRequest& request, const std::atomic<bool>& stop,
                  const Progress& progress);

/// Exactly what would be done, one line per phase: "unplug hca0: device_del ...". `looked`: the
/// answer to kLook; `node`: the guest's name, or a placeholder.
std::vector<std::string> plan_of(const MigrateRequest& request, const Answer& looked,
                                 const MigrateSteps& steps, const std::string& node);

}  // namespace livebtl::hypervisor
