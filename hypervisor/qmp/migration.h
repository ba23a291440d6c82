// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/migration.h -- what QEMU says about its guest and a migration, and what it is told
// about them. Used by btlctl's one thread; borrows the monitor.
#pragma once

#include "hypervisor/qmp/qmp.h"
#include "hypervisor/vm/vm.h"

namespace livebtl::hypervisor {

Result<MigrationState> ask_migration(Qmp& qmp, const Deadline& deadline);
Status cancel_migration(Qmp& qmp, const Deadline& deadline);
/// Returns once it has ended. `state` is what was last seen of it, even after an error.
Status follow_migration(Qmp& qmp, const Deadline& deadline, const Progress& progress,
                        MigrationState& state);

/// Has QEMU emit an event at each change, copy nothing after the guest has moved, and not pause
/// before it moves. `return_path`: the destination acknowledges that it has all; needs a socket.
Status set_capabilities(Qmp& qmp, bool return_path, const Deadline& deadline);
/// "running", "paused", ...
Result<std::string> run_state(Qmp& qmp, const Deadline& deadline);
/// Waits until the guest runs, with `cont` where needed. QEMU does not let the guest go on before
/// it has finished a migration.
Status wait_running(Qmp& qmp, const Deadline& deadline);
/// Stops the guest, and waits until it stands still.
Status wait_stopped(Qmp& qmp, const Deadline& deadline);

}  // namespace livebtl::hypervisor
