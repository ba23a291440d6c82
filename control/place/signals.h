// SPDX-License-Identifier: BSD-3-Clause
// control/place/signals.h -- threads of ours in somebody else's process take no signals.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace livebtl::control {

/// All signals go to the application's threads.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;
  ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace livebtl::control
