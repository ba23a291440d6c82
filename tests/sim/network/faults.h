// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/network/faults.h -- the faults that the simulator can inject, how likely each is in one
// run, and how often each occurred.
//
// A plan is drawn from the run's seed, so that some runs are calm in one way and wild in another. A
// count says that a fault affected something, not only that the dice fell so.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/random.h"

namespace livebtl::sim {

enum class Fault : std::uint8_t {
  kStall,             // a frame was held up far beyond the usual delay
  kDrop,              // a frame was lost with its path
  kDuplicate,         // a frame arrived whose path broke before it was acknowledged
  kReorder,           // a frame arrived after one that was posted later on another path
  kCorrupt,           // a frame arrived damaged: its path broke
  kTorn,              // a payload was placed in part, and its path broke
  kSeverBoth,         // a connection broke, and both ends saw it
  kSeverOneSide,      // ... and one end never saw it by itself
  kOutage,            // two processes could not connect by one transport for a while
  kRefuse,            // a connection was refused
  kRetry,             // post() answered retry
  kPartial,           // progress() did less than it could
  kFreeze,            // a process stood still, its clock with it
  kClockJump,         // a process stood still, and its clock went on
  kCoordinatorCrash,  // the coordinator of a ladder vanished
  kMemberCrash,       // a process died
  kOpenRefused,       // a transport could not be opened
  kControlLoss,       // a control message was lost, repeated or late
  kLeave,             // no fault: a process ended in good order while others went on
  kStop,              // a process was stopped for seconds, as by SIGSTOP
  kSlow,              // a process got its turns seldom
  kReadAgain,         // an exposed payload was read in part, and again later
};
inline constexpr std::size_t kFaultKinds = 22;

const char* fault_name(Fault fault) noexcept;

class FaultCounts {
 public:
  void note(Fault fault, std::uint64_t times = 1) noexcept { counts_[index(fault)] += times; }
  std::uint64_t of(Fault fault) const noexcept { return counts_[index(fault)]; }
  void add(const FaultCounts& other) noexcept {
    for (std::size_t i = 0; i < kFaultKinds; ++i) counts_[i] += other.counts_[i];
  }
  /// "stall=3 drop=17 ...".
  std::string to_text() const;

 private:
  static std::size_t index(Fault fault) noexcept { return static_cast<std::size_t>(fault); }
  std::array<std::uint64_t, kFaultKinds> counts_{};
};

/// Probabilities, per frame, call or simulation step, as noted.
struct FaultPlan {
  double stall = 0;              // a frame
  double corrupt = 0;            // a frame, on a transport that can lose frames
  double torn = 0;               // the same
  double retry = 0;              // a post
  double partial = 0;            // a frame moved by progress(): stop after it
  double read_again = 0;         // an exposed payload
  double refuse = 0;             // a connect
  double sever = 0;              // a step
  double outage = 0;             // a step
  double freeze = 0;             // a step
  double clock_jump = 0;         // a step
  double open_refused = 0;       // opening a transport
  double control_loss = 0;       // a control message
  double coordinator_crash = 0;  // a coordinator step
  double member_crash = 0;       // a step
  double leave = 0;              // a run: one process leaves, and perhaps another
  double stop = 0;               // a process that leaves: stops one that it has sent to
  double slow = 0;               // the same

  static FaultPlan calm() noexcept { return {}; }
  static FaultPlan from_seed(std::uint64_t seed) noexcept;
};

}  // namespace livebtl::sim
