// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/migration.h -- what QEMU says of its guest and of a migration, and is told about
// them. Used by btlctl's one thread; borrows the monitor.
#pragma once

#include <functional>

#include "hypervisor/plan/step.h"
#include "hypervisor/qmp/qmp.h"

namespace livebtl::hypervisor {

enum class Migration { kNone, kActive, kCompleted, kFailed };

struct MigrationState {
  Migration migration = Migration::kNone;
  std::string why;                // for people
  Json figures = Json::object();  // QEMU's own
};
Result<MigrationState> ask_migration(Qmp& qmp, const Patience& patience);
/// Until it is decided; `say` is told how far it is. Whatever was last seen is in `state`.
Status follow_migration(Qmp& qmp, const Patience& patience,
                        const std::function<void(const std::string&)>& say, MigrationState& state);

/// Events are told, nothing is copied afterwards or held up; `return_path`: the destination says
/// that it has taken everything, which only a socket carries.
Status set_capabilities(Qmp& qmp, bool return_path, const Patience& patience);
/// "running", "paused", ...
Result<std::string> run_state(Qmp& qmp, const Patience& patience);
/// Until the guest runs; `cont` if it has to be told. What QEMU still has to finish after a
/// migration lets nobody go on.
Status wait_running(Qmp& qmp, const Patience& patience);
/// Until the guest stands still.
Status wait_stopped(Qmp& qmp, const Patience& patience);
/// The connection, after such an error.
bool can_go_on(Errc code) noexcept;

}  // namespace livebtl::hypervisor
