// SPDX-License-Identifier: BSD-3-Clause
// control/agent/takeover.h -- on the job's lowest node the agent of the lowest rank has finished what a
// coordinator has left; if it knows of nothing to finish, others do later, one after the other.
//
// A helper does it, which is a process of its own (control/relay/finish.h): the agent has to move the engine
// meanwhile, answers that coordinator like any other, and may have no descriptor for it. Threads: the agent's
// alone.
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

  /// Once in each turn of the agent. spares: used while the job's directory is looked at.
  void turn(const MemberMachine& member, SpareDescriptors& spares, TimeNs now);
  /// What a helper says, or that its connection has ended.
  void hear(const Router::Note& note, TimeNs now);
  /// When turn() wants to be called next; INT64_MAX: when something has changed.
  TimeNs wake_at(const MemberMachine& member) const noexcept;

 private:
  std::size_t before_us() const;
  void start(bool left_alone, TimeNs now);
  void end(bool in_vain, TimeNs now);

  JobFacts job_;
  const MemberId self_;
  TakeoverWatch watch_;
  TimeNs begin_by_ = INT64_MAX;  // a helper was started, and has not said anything yet
  std::string helper_;           // the connection of the one at work; empty: none
  std::string said_;             // the last trouble that was told
};

}  // namespace livebtl::control
