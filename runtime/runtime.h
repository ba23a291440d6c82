// SPDX-License-Identifier: BSD-3-Clause
// runtime/runtime.h -- the one engine of a process and its agent: makes both in order, and ends
// them.
//
// Threads:   Engine::acquire() on any; the destructor runs on the thread that drops the last
//            reference.
// Ownership: shared by all callers of acquire() and all open ports. When the last is gone, the
//            engine waits until what it sent has been taken, says goodbye, and ends.
#pragma once

#include <sys/types.h>

#include <memory>

#include "control/agent/agent.h"
#include "core/engine/engine_core.h"

namespace livebtl::runtime {

class Runtime {
 public:
  /// The existing Runtime, or a new one. If the previous one has no references left but still waits
  /// for its peers, blocks until it has ended. Errors: as Engine::acquire().
  static Result<std::shared_ptr<Runtime>> acquire();
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  core::EngineCore& engine() noexcept { return *engine_; }

 private:
  Runtime() noexcept;
  static Result<std::shared_ptr<Runtime>> start();

  const pid_t made_by_;
  std::unique_ptr<core::EngineCore> engine_;
  std::unique_ptr<control::Agent> agent_;
};

}  // namespace livebtl::runtime
