// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/world/holds.cc -- see holds.h.
#include "tests/sim/world/holds.h"

#include <algorithm>
#include <utility>

#include "core/lane/frame.h"

namespace livebtl::sim {
namespace {

/// Acknowledgements, and news of paths that open (a probe confirms some of these) or broke, may
/// pass: they carry nothing of the job's, and losing any costs nothing.
bool concerns_job(Bytes header) {
  const auto head = core::decode_head(header);
  if (!head) return true;
  switch (head->kind) {
    case core::FrameKind::kHello:
    case core::FrameKind::kAck:
    case core::FrameKind::kProbe:
    case core::FrameKind::kPathDown:
    case core::FrameKind::kGoodbye:
      return false;
    default:
      return true;
  }
}

std::string name_if_jobs(Bytes header) {
  return concerns_job(header) ? core::to_text(*core::decode_head(header)) : "";
}

}  // namespace

Holds::Holds(SimNetwork& network, Processes& processes, std::uint64_t seed)
    : network_(network), processes_(processes), random_(seed ^ 0x401D), restores_(seed ^ 0x4E57) {
  never_ = random_.chance(0.5);
  next_at_ = static_cast<TimeNs>(random_.below(60 * kMillisecond));
}

void Holds::run(bool calm) {
  const TimeNs now = network_.clock().now();
  if (never_) return;
  if (times_.empty()) {
    if (!calm && now >= next_at_) begin();
    return;
  }
  for (const auto& process : processes_) {
    const auto times = times_.find(process->number());
    if (times != times_.end()) tell(*process, times->second);
  }
  if (now >= over_at_) return end();
  const bool whole = all_parked();
  // A process whose lease ran out may have sent, and left, before it was asked.
  const auto alive =
      std::ranges::count_if(processes_, [](const auto& each) { return each->alive(); });
  const bool all_stay = std::exchange(alive_, alive) == alive;
  if (whole && whole_ && all_stay && posted_ != 0)
    on_failure("all processes were parked throughout, and one has sent " + posted_text_);
  posted_ = 0;
  if (whole && !whole_) {
    ++parked_;
    const std::string found = network_.find_on_wire(name_if_jobs);
    if (!found.empty()) on_failure("all processes are parked, and there is " + found);
    if (restores_.chance(0.3)) restore();
  }
  whole_ = whole;
}

void Holds::begin() {
  const TimeNs now = network_.clock().now();
  ++number_;
  lease_ = (1 + static_cast<TimeNs>(random_.below(60))) * kMillisecond;
  const TimeNs lasts = static_cast<TimeNs>(random_.below(40 * kMillisecond));
  const auto at = [&](TimeNs about, double lost) {
    if (random_.chance(lost)) return kNever;
    return now + about + static_cast<TimeNs>(random_.below(2 * kMillisecond));
  };
  for (const auto& process : processes_) {
    if (process->alive() && process->begun())
      times_[process->number()] = {at(0, 0.03), at(lasts, 0.1)};
  }
  over_at_ = now + lasts + lease_ + 10 * kMillisecond;
}

// A process that stands still is told later.
void Holds::tell(SimProcess& process, Times& times) {
  const TimeNs now = network_.clock().now();
  if (!process.alive() || process.frozen()) return;
  if (now >= times.start) {
    times.start = kNever;
    const core::HoldReport before = process.engine().hold_report();
    if (before.state == core::HoldState::kBroken) process.engine().end_hold(before.id);
    (void)process.engine().hold({number_, lease_, 0, job_incarnation()});
  }
  if (now >= times.end) {
    times.end = kNever;
    if (process.engine().hold_report().state == core::HoldState::kBroken) ++expired_;
    (void)process.engine().end_hold(number_);
  }
}

void Holds::end() {
  times_.clear();
  whole_ = false;
  next_at_ = network_.clock().now() + static_cast<TimeNs>(random_.below(80 * kMillisecond));
}

// The highest of any process, as `hold start` finds it: a process without an incarnation adopts the
// one that comes with a hold, and a higher one would fence the others out.
Incarnation Holds::job_incarnation() const {
  Incarnation highest{1};
  for (const auto& process : processes_) {
    if (process->alive()) highest = std::max(highest, process->engine().hold_report().incarnation);
  }
  return highest;
}

// One above all; or the one they were already raised to from this hold, as another `job restored`
// would find.
Incarnation Holds::restored_to() const {
  for (const auto& process : processes_) {
    if (!process->alive()) continue;
    const core::HoldReport report = process->engine().hold_report();
    if (report.restored_from == number_) return report.incarnation;
  }
  return Incarnation{static_cast<std::uint32_t>(job_incarnation()) + 1};
}

// As `job restored` does once it has seen that all are held.
void Holds::restore() {
  ++restored_;
  const Incarnation to = restored_to();
  for (const auto& process : processes_) {
    if (!process->alive()) continue;
    const core::HoldReport report = process->engine().restore({number_, 0}, to);
    if (!report.refusal.empty()) on_failure("all are held, and one refuses: " + report.refusal);
  }
}

// For a process that stands still this is unknown until it answers.
bool Holds::all_parked() {
  return std::ranges::all_of(processes_, [&](const auto& process) {
    if (!process->alive()) return true;
    if (process->frozen() || !process->begun()) return false;
    const core::HoldReport report = process->engine().hold_report();
    return report.id == number_ && report.state == core::HoldState::kParked;
  });
}

// Called from within an engine, which cannot be asked now whether the hold has just ended.
void Holds::posted(Bytes header) {
  if (whole_ && concerns_job(header)) {
    ++posted_;
    posted_text_ = name_if_jobs(header);
  }
}

}  // namespace livebtl::sim
