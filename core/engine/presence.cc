// SPDX-License-Identifier: BSD-3-Clause
// core/engine/presence.cc -- see presence.h.
#include "core/engine/presence.h"

#include <sys/timerfd.h>

#include <algorithm>
#include <utility>

namespace livebtl::core {
namespace {

// Each attended absence may wake the agent twice: the second time for the deadline it then sleeps
// for.
constexpr TimeNs kUnattended = 3 * kSecond;
// In mid-ladder. Where many processes spin on few processors, each is away whenever others run; if
// their agents were woken each time, these would keep them from the processors.
constexpr TimeNs kShortAbsence = 50 * kMillisecond;

}  // namespace

Presence::Presence(TimeNs away, bool sets_timer)
    : away_(away),
      sets_timer_(sets_timer),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {}

// Also clears an expiry that is already shown. Relative: the engine's clock may be a test's.
void Presence::set_timer(TimeNs in) const noexcept {
  if (!sets_timer_) return;
  in = std::max<TimeNs>(in, 1);  // 0 would stop it
  itimerspec at{};
  at.it_value.tv_sec = static_cast<time_t>(in / kSecond);
  at.it_value.tv_nsec = static_cast<long>(in % kSecond);
  ::timerfd_settime(timer_.number(), 0, &at, nullptr);
}

void Presence::stop_timer() const noexcept {
  if (!sets_timer_) return;
  const itimerspec never{};
  ::timerfd_settime(timer_.number(), 0, &never, nullptr);
}

void Presence::put_off(TimeNs now) noexcept {
  told_at_ = now;
  TimeNs quiet = quiet_until_.load(std::memory_order_relaxed);
  if (has_left(now)) quiet = std::min(quiet, now + kShortAbsence);
  const TimeNs until = std::max(now + 2 * away_, quiet);
  if (until == until_.load(std::memory_order_relaxed)) return;
  until_.store(until, std::memory_order_relaxed);
  set_timer(until - now);
}

void Presence::returned(TimeNs now) noexcept {
  const bool attended = std::exchange(attended_, false);
  if (attended && in_ladder_ && now - attended_at_ < kShortAbsence)
    quiet_until_ = now + kShortAbsence;
  else if (attended && !in_ladder_ && !answered_)
    quiet_until_ = attended_at_ + kUnattended;
  put_off(now);
}

void Presence::expect_work(TimeNs now) noexcept {
  quiet_until_ = 0;
  if (until_.load(std::memory_order_relaxed) > now + 2 * away_) put_off(now);
}

void Presence::leave(TimeNs now) noexcept {
  left_at_.store(now, std::memory_order_relaxed);
  quiet_until_ = 0;
  until_.store(0, std::memory_order_relaxed);
  set_timer(0);
}

// The application may change until_ at the same time: its value stands, and the timer is set for
// it.
void Presence::extend(TimeNs now, bool in_ladder) noexcept {
  TimeNs until = until_.load(std::memory_order_relaxed);
  if (until > now) return;
  const TimeNs later = now + (in_ladder || has_left(now) ? kShortAbsence : kUnattended);
  quiet_until_.store(later, std::memory_order_relaxed);
  if (!until_.compare_exchange_strong(until, later)) return;
  TimeNs set = 0;
  do {
    set = until_.load();
    set_timer(set - now);
  } while (until_.load() != set);
}

void Presence::busy(TimeNs now, bool in_ladder) noexcept {
  if (until_.load(std::memory_order_relaxed) != 0) return extend(now, in_ladder);
  set_timer(away_);
}

bool Presence::has_left(TimeNs now) const noexcept {
  return now - left_at_.load(std::memory_order_relaxed) < kUnattended;
}

void Presence::attend(TimeNs now, bool prompt, bool in_ladder) noexcept {
  if (!std::exchange(attended_, true)) {
    attended_at_ = now;
    answered_ = false;
    // Otherwise it would stay readable throughout the absence, even if it is yet to expire.
    stop_timer();
  }
  if (prompt) answered_ = true;
  in_ladder_ = in_ladder;
}

}  // namespace livebtl::core
