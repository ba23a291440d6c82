// SPDX-License-Identifier: BSD-3-Clause
// perf/lead.cc -- see lead.h.
#include "perf/lead.h"

#include <cstdio>
#include <utility>

#include "perf/measure.h"
#include "perf/report.h"
#include "perf/units.h"

namespace livebtl::perf {
namespace {

double clock_cost_ns() {
  constexpr int kReadings = 2000;
  const TimeNs begin = monotonic_now();
  for (int i = 1; i < kReadings; ++i) (void)monotonic_now();
  return static_cast<double>(monotonic_now() - begin) / kReadings;
}

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace

Leader::Leader(const Line& line, Pair& pair, Switcher* switcher)
    : line_(line), pair_(pair), switcher_(switcher) {
  results_.line = line;
  results_.clock_ns = clock_cost_ns();
}

bool Leader::run() {
  if (!line_.json) print(table_head(line_, results_.clock_ns));
  if (switcher_ != nullptr && !switch_once()) return false;  // to the first transport
  for (const std::size_t bytes : line_.sizes) {
    if (!(switcher_ == nullptr ? measure_one(bytes, false) : measure_switched(bytes))) return false;
  }
  return true;
}

/// On each transport, and while switching.
bool Leader::measure_switched(std::size_t bytes) {
  if (!measure_one(bytes, false) || !switch_once() || !measure_one(bytes, false)) return false;
  switcher_->wish(SwitchBoard::kAgain);
  const bool measured = measure_one(bytes, true);
  switcher_->wish(SwitchBoard::kRest);
  return measured && await_switcher();
}

bool Leader::measure_one(std::size_t bytes, bool switching) {
  Course::Bounds bounds{line_.warm_up_for(bytes), line_.rounds_for(bytes)};
  // As long as the switches take: the longest of few rounds cannot be compared with that of many.
  if (switcher_ != nullptr) bounds.time = line_.switch_every * line_.switches;
  if (switching) bounds.switches = line_.switches;
  Course course(bounds, switching ? switcher_ : nullptr);
  const Task task{line_.test, bytes, line_.window_for(), line_.check};
  if (!measure(pair_, task, &course)) return false;
  if (switching && switcher_->failed()) return await_switcher();
  note(course, bytes, switching);
  return true;
}

void Leader::note(const Course& course, std::size_t bytes, bool switching) {
  Figure figure;
  figure.bytes = bytes;
  figure.over = switching ? joined(line_.transports, "+") : pair_.transport();
  figure.switching = switching;
  figure.window = line_.window_for();
  figure.times = course.times();
  figure.elapsed = course.elapsed();
  if (course.watch()) {
    figure.switches = course.watch()->switches();
    figure.longest_times = course.watch()->longest_times();
  }
  if (!line_.json) print(table_row(line_, figure));
  if (!line_.json && line_.histogram) print(histogram_text(line_, figure));
  results_.figures.push_back(std::move(figure));
}

bool Leader::switch_once() {
  switcher_->wish(SwitchBoard::kOnce);
  return await_switcher();
}

bool Leader::await_switcher() {
  if (!pair_.wait_until([this] { return switcher_->rests(); }, "a switch")) return false;
  return !switcher_->failed() || pair_.fail_with(Errc::kRefused, switcher_->problem());
}

bool follow(const Line& line, Pair& pair) {
  for (const std::size_t bytes : line.sizes) {
    const Task task{line.test, bytes, line.window_for(), line.check};
    for (int i = 0; i < (line.switch_every > 0 ? 3 : 1); ++i) {
      if (!measure(pair, task, nullptr)) return false;
    }
  }
  return true;
}

}  // namespace livebtl::perf
