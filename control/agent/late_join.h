// SPDX-License-Identifier: BSD-3-Clause
// control/agent/late_join.h -- how a process that was spawned on a node of its own learns where the job stands: by the
// relays of other nodes, once its engine has met those that spawned it.
//
// Until then it is joining: it follows nobody, and its engine goes by the routing with which the job began, which its
// peers may have left. Threads: the agent's alone. docs/adr/0044.
#pragma once

#include <optional>
#include <vector>

#include "base/clock.h"
#include "control/agent/router.h"
#include "control/ladder/member.h"
#include "control/wire/messages.h"
#include "core/engine/admin.h"

namespace livebtl::control {

class LateJoin {
 public:
  LateJoin(const JobFacts& job, ProcessId self, core::Admin& admin, Router& router, TimeNs now);

  /// Once in each turn of the agent. JoinFrom: somebody has answered; JoinAsFirst: nobody has, for too long. To be
  /// carried out once, and that is the end of this.
  std::optional<MemberEvent> turn(TimeNs now);
  /// body: hostile. What does not answer a question of this one is passed over.
  void hear(const Router::Answered& answer);
  TimeNs wake_at() const noexcept;

 private:
  void ask();
  void learn(const MembersAnswer& page);

  const JobFacts& job_;
  const ProcessId self_;
  core::Admin& admin_;
  Router& router_;
  const TimeNs deadline_;
  TimeNs ask_at_;
  std::vector<ProcessId> fellows_;  // on other nodes
  std::optional<Standing> found_;
};

}  // namespace livebtl::control
