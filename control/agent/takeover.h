// SPDX-License-Identifier: BSD-3-Clause
// control/agent/takeover.h -- the agent of the job's lowest relay finishes what a coordinator has left.
//
// That is, on each node, the member that relays for it, or, where none has to, the member of lowest rank;
// and of the nodes the lowest-numbered one. It does what `btlctl resume` would do, in a thread of its
// own that is there as long as that takes: the agent has to move the engine meanwhile, and answers
// that coordinator like any other. Threads: all calls from the agent's.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include "control/ladder/takeover_watch.h"
#include "control/place/job.h"

namespace livebtl::control {

class Takeover {
 public:
  /// bell: rung from the other thread when it has ended.
  Takeover(const JobFacts& job, MemberId self, std::function<void()> bell);
  Takeover(const Takeover&) = delete;
  Takeover& operator=(const Takeover&) = delete;
  /// Ends the takeover, at any point.
  ~Takeover();

  /// Once in each turn of the agent. relays: does this member relay for its node? nullopt: the job
  /// is on one node, and nobody does.
  void turn(const MemberMachine& member, std::optional<bool> relays, TimeNs now);
  /// When turn() wants to be called next; INT64_MAX: when something has changed.
  TimeNs wake_at(const MemberMachine& member) const noexcept;

 private:
  enum class Result : int { kNone, kDone, kInVain, kNotOurs };
  bool lowest_here() const;
  void start();
  Result finish_ladder() const;

  JobFacts job_;
  const MemberId self_;
  std::function<void()> bell_;
  TakeoverWatch watch_;
  std::thread thread_;
  std::atomic<bool> stop_{false};
  std::atomic<Result> result_{Result::kNone};  // kNone while it runs
};

}  // namespace livebtl::control
