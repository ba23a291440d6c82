// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/network/sim_clock.h -- virtual time: one clock for the world, and one for each process.
//
// A process's clock stops while the process is paused as a VM is, so it then stays behind the
// world's.
#pragma once

#include "base/assert.h"
#include "base/clock.h"

namespace livebtl::sim {

inline constexpr TimeNs kNever = INT64_MAX;

class SimClock {
 public:
  TimeNs now() const noexcept { return now_; }
  void advance_to(TimeNs time) noexcept {
    LIVEBTL_ASSERT(time >= now_, "time does not run backwards");
    now_ = time;
  }

 private:
  TimeNs now_ = kSecond;  // not 0, which often means "never" in code under test
};

class ProcessClock {
 public:
  explicit ProcessClock(const SimClock& world) noexcept : world_(&world) {}
  TimeNs now() const noexcept { return world_->now() - behind_; }
  void lose(TimeNs span) noexcept { behind_ += span; }

 private:
  const SimClock* world_;
  TimeNs behind_ = 0;
};

}  // namespace livebtl::sim
