// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/relay_pause.h -- a node's relay is ended for as long as the node's processes are dumped: it is none of
// their tree, and a connection to it could not be. Members start another one afterwards (docs/adr/0023).
#pragma once

#include "base/fd.h"
#include "control/client/discovery.h"

namespace livebtl::tool {

/// Ends the job's relay on this node, if there is one; none is started while what this returns is open. Errors: kTimeout: a
/// member has been starting one for too long, or it does not end; kRefused: what listens in its place is not the job's owner's;
/// kSystem.
Result<Fd> pause_relay(const control::JobPlace& job);

}  // namespace livebtl::tool
