// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/relay_pause.h -- ends a node's relay while the node's processes are dumped: it
// is not in their tree, and a connection to it could not be dumped. Members start another one
// afterwards (docs/adr/0023).
#pragma once

#include "base/fd.h"
#include "control/client/discovery.h"

namespace livebtl::tool {

/// Ends the job's relay on this node, if any; none is started while the returned descriptor is
/// open. Errors: kTimeout: a member has been starting one for too long, or it does not end;
/// kRefused: another user's process listens in its place, or a member's file names no node;
/// kNotFound; kSystem.
Result<Fd> pause_relay(const control::JobPlace& job);

}  // namespace livebtl::tool
