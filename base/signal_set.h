// SPDX-License-Identifier: BSD-3-Clause
// base/signal_set.h -- signals that our programs wait for by sigwait(3) or signalfd(2), not with
// handlers: a signal between the check of a handler's flag and the wait would be missed.
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

/// Blocks the signals in this thread; threads and processes that it starts later inherit this.
inline void block_signals(const sigset_t& set) noexcept {
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace livebtl
