// SPDX-License-Identifier: BSD-3-Clause
// control/place/fork_watch.cc -- see fork_watch.h. The handler runs in the child before anything
// else: it may only use atomics and close().
#include "control/place/fork_watch.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "base/assert.h"

namespace livebtl::control {
namespace {

constexpr int kNone = -1;
constexpr std::size_t kSlots = 256;

struct Watch {
  std::array<std::atomic<int>, kSlots> fds;
  std::atomic<bool> child{false};
  std::atomic<pid_t> member{::getpid()};

  Watch() noexcept {
    for (auto& fd : fds) fd.store(kNone);
    const int error = ::pthread_atfork(nullptr, nullptr, [] { watch().enter_child(); });
    LIVEBTL_ASSERT(error == 0, "there is memory for a fork handler at start");
  }
  void enter_child() noexcept {
    child.store(true);
    for (auto& fd : fds) {
      const int number = fd.exchange(kNone);
      if (number != kNone) ::close(number);
    }
  }
  static Watch& watch() noexcept {
    static Watch instance;  // one per process, like the handler it installs
    return instance;
  }
};

}  // namespace

void close_in_child(int fd) noexcept {
  Watch::watch().member.store(::getpid());
  Watch::watch().child.store(false);
  for (auto& slot : Watch::watch().fds) {
    int expected = kNone;
    if (slot.compare_exchange_strong(expected, fd)) return;
  }
  LIVEBTL_ASSERT(false, "no more than 256 descriptors are watched");
}

void forget_in_child(int fd) noexcept {
  for (auto& slot : Watch::watch().fds) {
    int expected = fd;
    if (slot.compare_exchange_strong(expected, kNone)) return;
  }
}

bool in_forked_child() noexcept {
  const Watch& watch = Watch::watch();
  return watch.child.load() || watch.member.load() != ::getpid();
}

}  // namespace livebtl::control
