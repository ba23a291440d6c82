// SPDX-License-Identifier: BSD-3-Clause
// control/agent/agent.h -- the thread in each process that talks to the control plane, and that
// moves the engine when the application does not.
//
// Threads: start() and the destructor on the caller's; everything else on the agent's own thread,
//          which alone owns the control sockets. It reaches the engine only through core::Admin.
#pragma once

#include <memory>

#include "control/place/job.h"
#include "core/engine/admin.h"
#include "livebtl/result.h"

namespace livebtl::control {

class Agent {
 public:
  /// Listens in the job's directory, then joins: hands the standing of the members there to
  /// admin.adopt() before it returns, so that no transport opens in a state the job has left.
  /// (Spawned alone on a node: late_join.h.)
  static Result<std::unique_ptr<Agent>> start(const JobFacts& job, ProcessId process,
                                              core::Admin& admin);
  // says goodbye, stops and joins the thread, removes the socket and the lock file
  virtual ~Agent() = default;
};

}  // namespace livebtl::control
