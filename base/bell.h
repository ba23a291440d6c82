// SPDX-License-Identifier: BSD-3-Clause
// base/bell.h -- an eventfd that wakes a thread sleeping in poll(). Any thread may ring it, under
// any lock.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/fd.h"

namespace livebtl {

class Bell {
 public:
  Bell() noexcept : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  bool usable() const noexcept { return static_cast<bool>(fd_); }
  int fd() const noexcept { return fd_.number(); }
  void ring() const noexcept {
    const std::uint64_t one = 1;
    while (::write(fd_.number(), &one, sizeof one) < 0 && errno == EINTR) {
    }
  }
  /// Forgets all rings.
  void silence() const noexcept {
    std::uint64_t rings = 0;
    while (::read(fd_.number(), &rings, sizeof rings) < 0 && errno == EINTR) {
    }
  }

 private:
  Fd fd_;
};

}  // namespace livebtl
