// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_sleep.cc -- see ofi_sleep.h.
#include "transports/ofi/ofi_sleep.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace livebtl::ofi {
namespace {

/// As long as a message may wait for a process that has gone to sleep over it.
constexpr TimeNs kRingsAfter = kMillisecond;
/// In a row. Work may have been taken between the descriptor's showing it and our looking.
constexpr int kFalseAlarmsMax = 16;

bool watch(const Fd& epoll, int fd) noexcept {
  epoll_event event{};
  event.events = EPOLLIN;
  return ::epoll_ctl(epoll.number(), EPOLL_CTL_ADD, fd, &event) == 0;
}

}  // namespace

Result<Sleep> Sleep::open(int provider) {
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  Fd clock(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!epoll || !clock || !watch(epoll, clock.number()))
    return fail(Errc::kSystem, std::string("ofi: no descriptor to sleep on: ") + strerror(errno));
  if (provider >= 0 && !watch(epoll, provider)) provider = -1;
  return Sleep(std::move(epoll), std::move(clock), provider);
}

Sleep::Sleep(Fd epoll, Fd clock, int provider) noexcept
    : epoll_(std::move(epoll)), clock_(std::move(clock)), provider_(provider) {}

bool Sleep::arm() noexcept {
  if (provider_ >= 0) {
    pollfd entry{provider_, POLLIN, 0};
    if (::poll(&entry, 1, 0) <= 0) return true;
    if (++false_alarms_ < kFalseAlarmsMax) return false;
    distrust();
  }
  itimerspec in{};
  in.it_value.tv_nsec = kRingsAfter;
  rings_ = ::timerfd_settime(clock_.number(), 0, &in, nullptr) == 0;
  return rings_;
}

// net, of libfabric 1.17, has its sockets' readiness to be written to shown for ever.
void Sleep::distrust() noexcept {
  ::epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, provider_, nullptr);
  provider_ = -1;
}

void Sleep::wake() noexcept {
  if (!std::exchange(rings_, false)) return;
  const itimerspec off{};
  ::timerfd_settime(clock_.number(), 0, &off, nullptr);
}

}  // namespace livebtl::ofi
