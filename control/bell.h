// SPDX-License-Identifier: BSD-3-Clause
// control/bell.h -- what a thread of ours needs to live in somebody else's process: it is woken
// from outside, and takes no signals.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/fd.h"

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

/// Wakes the thread; from any thread, and under any lock.
class Bell {
 public:
  Bell() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  bool usable() const noexcept { return static_cast<bool>(fd_); }
  int fd() const noexcept { return fd_.number(); }
  void ring() const noexcept {
    const std::uint64_t one = 1;
    while (::write(fd_.number(), &one, sizeof one) < 0 && errno == EINTR) {
    }
  }
  void silence() const noexcept {
    std::uint64_t rings = 0;
    while (::read(fd_.number(), &rings, sizeof rings) < 0 && errno == EINTR) {
    }
  }

 private:
  Fd fd_;
};

}  // namespace livebtl::control
