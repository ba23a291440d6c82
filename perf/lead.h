// SPDX-License-Identifier: BSD-3-Clause
// perf/lead.h -- all sizes, one after the other: rank 0 measures, prints as it goes, and keeps what
// is printed at the end; rank 1 takes part in each measurement. One thread.
#pragma once

#include "perf/course.h"
#include "perf/pair.h"
#include "perf/result.h"
#include "perf/switcher.h"

namespace livebtl::perf {

class Leader {
 public:
  /// switcher: null if nothing is switched. line, pair, switcher: they outlive it.
  Leader(const Line& line, Pair& pair, Switcher* switcher);
  /// false: something has failed (Pair::failure()).
  bool run();
  const Results& results() const noexcept { return results_; }

 private:
  bool measure_switched(std::size_t bytes);
  bool measure_one(std::size_t bytes, bool switching);
  void note(const Course& course, std::size_t bytes, bool switching);
  bool switch_once();
  bool await_switcher();

  const Line& line_;
  Pair& pair_;
  Switcher* const switcher_;
  Results results_;
};

/// Rank 1's part.
bool follow(const Line& line, Pair& pair);

}  // namespace livebtl::perf
