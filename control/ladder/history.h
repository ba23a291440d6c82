// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/history.h -- the last switches, as one member went through them: what was ordered, by whom, when each
// rung was reached, and what it had to wait for.
//
// Each member keeps its own, so that it outlives the coordinators. Pure: time is an argument.
// Threads: the agent's alone.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "base/clock.h"
#include "control/ladder/ladder_types.h"

namespace livebtl::control {

/// One order to one rung.
struct RungRecord {
  Rung rung = Rung::kOld;
  bool undoing = false;
  TimeNs ordered_ns = 0;  // since the switch began here
  TimeNs reached_ns = 0;  // ... and acknowledged; if not reached: when it was last looked at
  bool reached = false;
  std::string waited_for;  // the last thing that it waited for; "": it did not wait
};

enum class SwitchEnd : std::uint8_t { kUnderWay, kDone, kTakenBack, kRefused };

struct SwitchRecord {
  std::uint64_t operation = 0;
  std::uint32_t epoch = 0;
  std::string verb;
  std::vector<std::string> arguments;
  std::string node;         // of the scope; "": the job
  std::string ordered_by;   // Order::by of the first order
  std::string finished_by;  // ... of the last order, if that is somebody else; "": it is not
  std::uint64_t began_unix_ns = 0;  // wall clock; all other times are relative
  SwitchEnd end = SwitchEnd::kUnderWay;
  std::string refusal;
  std::uint32_t pairs_moved = 0, pairs_left = 0;
  std::vector<RungRecord> rungs;
};

inline constexpr std::size_t kSwitchesKept = 8;
inline constexpr std::size_t kRungsKept = 8;  // up and down again is six

class History {
 public:
  /// The member took this order.
  void ordered(const Order& order, TimeNs now, std::uint64_t unix_now_ns);
  /// Where the member stands now.
  void stands(const Standing& standing, TimeNs now);

  const std::deque<SwitchRecord>& switches() const noexcept { return switches_; }

 private:
  std::deque<SwitchRecord> switches_;  // the newest last
  TimeNs began_ = 0;                   // of the newest
};

constexpr const char* switch_end_name(SwitchEnd end) noexcept {
  constexpr const char* kNames[] = {"under way", "done", "taken back", "refused"};
  return kNames[static_cast<std::size_t>(end)];
}

}  // namespace livebtl::control
