// SPDX-License-Identifier: BSD-3-Clause
// control/agent/shown.h -- what a member shows of itself: remembers its switches, and keeps its
// page (member_page.h).
//
// Threads: the agent's alone. A process that could not make a page goes on without one; its log
// says so.
#pragma once

#include <memory>
#include <vector>

#include "control/ladder/history.h"
#include "control/ladder/member.h"
#include "control/place/member_page.h"
#include "control/wire/messages.h"

namespace livebtl::control {

class Shown {
 public:
  Shown(const JobFacts& job, MemberId self, core::Admin& admin);
  Shown(Shown&&) noexcept = default;
  Shown& operator=(Shown&&) = delete;
  ~Shown();

  /// Notes what the machine made of the event.
  void remember(const MemberEvent& event, const std::vector<MemberAction>& actions,
                const MemberMachine& machine, TimeNs now);
  /// For those who cannot read the file.
  Message answer(ProcessId self) const;

 private:
  core::Admin& admin_;
  std::unique_ptr<MemberPage> page_;
  History history_;
};

}  // namespace livebtl::control
