// SPDX-License-Identifier: BSD-3-Clause
// control/agent/agent.h -- the thread in each process that talks to the control plane, and that moves the
// engine when the application does not.
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
  /// Listens in the job's directory, then joins: asks the members that are there for the job's
  /// standing and hands it to admin.adopt() before it returns, so that no transport is opened in a
  /// state the job has left.
  static Result<std::unique_ptr<Agent>> start(const JobFacts& job, ProcessId process,
                                              core::Admin& admin);
  // says goodbye, stops and joins the thread, removes the socket and the lock file
  virtual ~Agent() = default;
};

}  // namespace livebtl::control
