// SPDX-License-Identifier: BSD-3-Clause
// perf/measure.h -- the measurements. Both processes call the same function; the leading one (rank
// 0) has a course, the other has none and goes on until it is told that nothing follows. All return
// false once something has failed (Pair::failure()). One thread.
#pragma once

#include "perf/course.h"
#include "perf/line.h"
#include "perf/pair.h"

namespace livebtl::perf {

/// What both ends know of a measurement.
struct Task {
  Test test = Test::kLatency;
  std::size_t bytes = 8;
  std::size_t window = 1;
  bool check = false;
};

/// Blocking ping-pong, as in osu_latency. A time is that of a round trip.
bool measure_latency(Pair& pair, const Task& task, Course* course);
/// As osu_bw and osu_bibw: a window of messages at once and, if one-way, a short answer to it. A
/// time is that of a window.
bool measure_stream(Pair& pair, const Task& task, Course* course);
/// put, get, fetch-and-add on memory of rank 1, which only waits; a window of them at once, until
/// all are done.
bool measure_onesided(Pair& pair, const Task& task, Course* course);

bool measure(Pair& pair, const Task& task, Course* course);

}  // namespace livebtl::perf
