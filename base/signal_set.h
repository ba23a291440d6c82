// SPDX-License-Identifier: BSD-3-Clause
// base/signal_set.h -- signals that a program of ours waits for, in place of handlers: by sigwait(3) or signalfd(2).
// Between a look at a handler's flag and the wait a signal would be missed.
#pragma once

#include <signal.h>

#include <initializer_list>

namespace livebtl {

inline sigset_t signal_set(std::initializer_list<int> numbers) noexcept {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : numbers) ::sigaddset(&set, number);
  return set;
}

/// Blocks them in this thread and in those that it starts from now on, which inherit that; so do child processes.
inline void block_signals(const sigset_t& set) noexcept {
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace livebtl
