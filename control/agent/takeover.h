// SPDX-License-Identifier: BSD-3-Clause
// control/agent/takeover.h -- the lowest rank's agent on the job's lowest node has a helper finish
// what a coordinator left; if it knows of nothing to finish, others do so later, one after the
// other.
//
// The helper is a process of its own (control/relay/finish.h): meanwhile the agent has to move the
// engine, answers the helper like any coordinator, and may have no descriptor for the work.
// Threads: the agent's alone.
#pragma once

#include <optional>
#include <string>

#include "control/agent/router.h"
#include "control/ladder/takeover_watch.h"
#include "control/place/job.h"

namespace livebtl::control {

class Takeover {
 public:
  Takeover(const JobFacts& job, MemberId self);

  /// Once in each turn of the agent. spares: used while the job's directory is scanned.
  void turn(const MemberMachine& member, SpareDescriptors& spares, TimeNs now);
  /// What a helper says, or that its connection has ended.
  void hear(const Router::Note& note, TimeNs now);
  /// When turn() is due next; INT64_MAX: once something has changed.
  TimeNs wake_at(const MemberMachine& member) const noexcept;

 private:
  std::size_t before_us() const;
  void start(bool left_alone, TimeNs now);
  void end(bool in_vain, TimeNs now);

  JobFacts job_;
  const MemberId self_;
  TakeoverWatch watch_;
  TimeNs begin_by_ = INT64_MAX;  // a helper was started, and must speak by then
  std::string helper_;           // the working helper's connection; empty: none
  std::string said_;             // the last failure logged
};

}  // namespace livebtl::control
