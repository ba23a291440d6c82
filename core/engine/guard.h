// SPDX-License-Identifier: BSD-3-Clause
// core/engine/guard.h -- holds the engine's lock for a scope.
#pragma once

#include "core/engine/core.h"

namespace livebtl::core {

class Guard {
 public:
  explicit Guard(Core& core, BiasedLock::Caller caller = BiasedLock::Caller::kApplication) noexcept
      : core_(core), caller_(caller) {
    core_.lock.lock(caller_);
  }
  ~Guard() { core_.lock.unlock(caller_); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  Core& core_;
  BiasedLock::Caller caller_;
};

}  // namespace livebtl::core
