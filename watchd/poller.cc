// SPDX-License-Identifier: BSD-3-Clause
// watchd/poller.cc -- see poller.h.
#include "watchd/poller.h"

#include <chrono>

namespace livebtl::watchd {
namespace {

constexpr Backoff kSilent = {kSecond, 60 * kSecond};

}  // namespace

void Mailbox::put(Delivery delivery) {
  const std::lock_guard lock(mutex_);
  deliveries_.push_back(std::move(delivery));
  bell_.ring();
}

std::deque<Delivery> Mailbox::take_all() {
  bell_.silence();
  const std::lock_guard lock(mutex_);
  return std::exchange(deliveries_, {});
}

Poller::Poller(Source& source, Mailbox& mailbox, std::uint64_t seed)
    : source_(source), mailbox_(mailbox), random_(seed), thread_([this] { run(); }) {}

Poller::~Poller() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  source_.stop();
  thread_.join();
}

/// false: stopped.
bool Poller::wait(TimeNs duration) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, std::chrono::nanoseconds(duration), [this] { return stopped_; });
}

void Poller::run() {
  unsigned failures = 0;
  for (;;) {
    Result<Report> report = source_.look();
    failures = report ? 0 : failures + 1;
    mailbox_.put({&source_, std::move(report)});
    const TimeNs regular = source_.interval();
    const TimeNs pause = failures > 0 ? kSilent.delay(failures, random_)
                                      : Backoff{regular, regular}.delay(1, random_);
    if (!wait(pause)) return;
  }
}

}  // namespace livebtl::watchd
