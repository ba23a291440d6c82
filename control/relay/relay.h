// SPDX-License-Identifier: BSD-3-Clause
// control/relay/relay.h -- the life of a node's relay: at most one, as long as a member is
// connected.
//
// Threads: the process's main one; ZeroMQ has two more.
#pragma once

#include "control/relay/passing.h"

namespace livebtl::control {

/// Relays until the last member has gone, and a while longer if a coordinator on another node asks
/// who is there; gives up after 2 s if another relay is at work. Leaves no socket of its own, and
/// no directory that the job has given up. Returns the exit code, or exits with it.
int run_relay(const RelayFacts& facts);

}  // namespace livebtl::control
