// SPDX-License-Identifier: BSD-3-Clause
// watchd/poller.h -- a thread that looks at one source again and again, and leaves what it says in
// a mailbox. Owns its thread, borrows source and mailbox.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "base/bell.h"
#include "watchd/sources/source.h"

namespace livebtl::watchd {

struct Delivery {
  Source* source = nullptr;
  Result<Report> report;
};

/// From the pollers' threads to the main thread, which sleeps on bell().
class Mailbox {
 public:
  void put(Delivery delivery);
  std::deque<Delivery> take_all();
  const Bell& bell() const noexcept { return bell_; }

 private:
  std::mutex mutex_;
  std::deque<Delivery> deliveries_;
  Bell bell_;
};

class Poller {
 public:
  Poller(Source& source, Mailbox& mailbox, std::uint64_t seed);
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

 private:
  void run();
  bool wait(TimeNs duration);

  Source& source_;
  Mailbox& mailbox_;
  Random random_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace livebtl::watchd
