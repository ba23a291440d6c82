// SPDX-License-Identifier: BSD-3-Clause
// perf/course.h -- one measurement as the leading process sees it: how long it goes on, and what
// was measured. One thread; nothing here allocates during a measurement.
#pragma once

#include <optional>

#include "perf/histogram.h"
#include "perf/switcher.h"

namespace livebtl::perf {

class Course {
 public:
  struct Bounds {
    std::uint64_t warm_up = 0, rounds = 1;
    TimeNs time = 0;             // at least
    std::uint32_t switches = 0;  // at least
  };
  /// switching: switches meanwhile; null: no switches.
  Course(const Bounds& bounds, const Switcher* switching)
      : bounds_(bounds), until_(monotonic_now() + bounds.time), switching_(switching) {
    if (switching != nullptr) watch_.emplace(switching->board());
  }

  /// Is this round the last one? now: when it begins, or a little before.
  bool is_last(std::uint64_t round, TimeNs now) const noexcept {
    if (round + 1 < bounds_.warm_up + bounds_.rounds) return false;
    if (switching_ == nullptr) return now >= until_;
    return (now >= until_ && watch_->switches() >= bounds_.switches) || switching_->failed();
  }
  void add(std::uint64_t round, TimeNs time) {
    if (round < bounds_.warm_up) return;
    times_.add(time);
    elapsed_ += time;
    if (watch_) watch_->observe(time);
  }

  const Histogram& times() const noexcept { return times_; }
  TimeNs elapsed() const noexcept { return elapsed_; }
  const std::optional<SwitchWatch>& watch() const noexcept { return watch_; }

 private:
  const Bounds bounds_;
  const TimeNs until_;
  const Switcher* const switching_;
  std::optional<SwitchWatch> watch_;
  Histogram times_;
  TimeNs elapsed_ = 0;
};

}  // namespace livebtl::perf
