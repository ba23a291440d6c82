// SPDX-License-Identifier: BSD-3-Clause
// control/agent/late_join.h -- how a process spawned alone on a node learns where the job stands:
// through the relays of other nodes, once its engine has met the processes that spawned it.
//
// Until then it is joining: it follows nobody, and its engine uses the routing with which the job
// began, which its peers may have left. Threads: the agent's alone. docs/adr/0044.
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

  /// Once in each turn of the agent. JoinFrom: somebody answered; JoinAsFirst: nobody did in time.
  /// Carry it out once, and then destroy this object.
  std::optional<MemberEvent> turn(TimeNs now);
  /// body: hostile. Anything but an answer to our own questions is ignored.
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
