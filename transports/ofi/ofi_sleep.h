// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_sleep.h -- one descriptor to sleep on, whatever the provider: its own or, if
// it has none or one that shows work where there is none, a timer that expires soon.
//
// Threads: the engine's lock; the descriptor may be waited on without it.
#pragma once

#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "livebtl/result.h"

namespace livebtl::ofi {

class Sleep {
 public:
  /// Errors: kSystem.
  static Result<Sleep> open();

  /// The provider's descriptor from now on, or -1. It stays open until the next call or until this
  /// ends.
  void watch(int provider) noexcept;

  int fd() const noexcept { return epoll_.number(); }
  std::vector<int> descriptors() const { return {epoll_.number(), clock_.number()}; }
  /// Before sleeping, with nothing to do. false: the provider's descriptor shows work.
  bool arm() noexcept;
  /// There was work.
  void worked() noexcept { false_alarms_ = 0; }
  /// After sleeping: stops the timer.
  void wake() noexcept;

 private:
  Sleep(Fd epoll, Fd clock) noexcept;

  Fd epoll_, clock_;
  int provider_ = -1;  // -1: none, or none that can be trusted
  int false_alarms_ = 0;
  bool rings_ = false;  // the timer is set
};

}  // namespace livebtl::ofi
