// SPDX-License-Identifier: BSD-3-Clause
// control/relay/relay.h -- the life of a node's relay: one at most, as long as a member is connected.
//
// Threads: the process's main one; ZeroMQ has two more.
#pragma once

#include "control/relay/passing.h"

namespace livebtl::control {

/// Relays until the last member has gone, and as long as a coordinator on another node asks who is there; ends at once
/// if another relay is at work. Leaves no socket of its own, and
/// no directory that the job has given up. Returns the process's exit code.
int run_relay(const RelayFacts& facts);

}  // namespace livebtl::control
