// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/migration.h -- what QEMU says of its guest and of a migration, and is told about
// them. Used by btlctl's one thread; borrows the monitor.
#pragma once

#include "hypervisor/qmp/qmp.h"
#include "hypervisor/vm/vm.h"

namespace livebtl::hypervisor {

Result<MigrationState> ask_migration(Qmp& qmp, const Deadline& deadline);
Status cancel_migration(Qmp& qmp, const Deadline& deadline);
/// Until it has ended. `state` is what was last seen of it, also after an error.
Status follow_migration(Qmp& qmp, const Deadline& deadline, const Progress& progress,
                        MigrationState& state);

/// QEMU emits an event at each change, copies nothing after the guest has moved, and does not pause
/// before it moves. `return_path`: the destination acknowledges that it has all; needs a socket.
Status set_capabilities(Qmp& qmp, bool return_path, const Deadline& deadline);
/// "running", "paused", ...
Result<std::string> run_state(Qmp& qmp, const Deadline& deadline);
/// Until the guest runs; `cont` where it is needed. QEMU does not let it go on before it has
/// finished a migration.
Status wait_running(Qmp& qmp, const Deadline& deadline);
/// Until the guest stands still.
Status wait_stopped(Qmp& qmp, const Deadline& deadline);

}  // namespace livebtl::hypervisor
