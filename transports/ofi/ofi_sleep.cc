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

#include "base/log.h"

namespace livebtl::ofi {
namespace {

/// How long a message may have to wait for a sleeping process.
constexpr TimeNs kRingsAfter = kMillisecond;
/// In a row. Work may have been taken after the descriptor showed it and before we looked.
constexpr int kFalseAlarmsMax = 256;

bool add(const Fd& epoll, int fd) noexcept {
  epoll_event event{};
  event.events = EPOLLIN;
  return ::epoll_ctl(epoll.number(), EPOLL_CTL_ADD, fd, &event) == 0;
}

}  // namespace

Result<Sleep> Sleep::open() {
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  Fd clock(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!epoll || !clock || !add(epoll, clock.number()))
    return fail(Errc::kSystem, std::string("ofi: no descriptor to sleep on: ") + strerror(errno));
  return Sleep(std::move(epoll), std::move(clock));
}

Sleep::Sleep(Fd epoll, Fd clock) noexcept : epoll_(std::move(epoll)), clock_(std::move(clock)) {}

// The previous descriptor is still open: a closed one would stay in the set if a child of this
// process held it as well.
void Sleep::watch(int provider) noexcept {
  if (provider_ >= 0) ::epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, provider_, nullptr);
  provider_ = provider >= 0 && add(epoll_, provider) ? provider : -1;
  false_alarms_ = 0;
}

bool Sleep::arm() noexcept {
  if (provider_ >= 0) {
    pollfd entry{provider_, POLLIN, 0};
    if (::poll(&entry, 1, 0) <= 0) {
      false_alarms_ = 0;
      return true;
    }
    if (++false_alarms_ < kFalseAlarmsMax) return false;
    log(LogLevel::kInfo, "ofi",
        "the provider's descriptor reports work when there is none; polling it every millisecond");
    // net (libfabric 1.17) reports for ever that its sockets are writable.
    watch(-1);
  }
  itimerspec in{};
  in.it_value.tv_nsec = kRingsAfter;
  rings_ = ::timerfd_settime(clock_.number(), 0, &in, nullptr) == 0;
  return rings_;
}

void Sleep::wake() noexcept {
  if (!std::exchange(rings_, false)) return;
  const itimerspec off{};
  ::timerfd_settime(clock_.number(), 0, &off, nullptr);
}

}  // namespace livebtl::ofi
