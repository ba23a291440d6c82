// SPDX-License-Identifier: BSD-3-Clause
// control/agent/member_service.h -- what a member answers: requests in, answers out, via its
// machine and the engine.
//
// Has no sockets. Threads: the agent's alone; the engine is reached through core::Admin.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "control/agent/shown.h"
#include "control/client/discovery.h"
#include "control/ladder/member.h"
#include "control/wire/messages.h"
#include "control/wire/route.h"

namespace livebtl::control {

class MemberService {
 public:
  MemberService(const JobFacts& job, MemberId self, core::Admin& admin);

  struct Reply {
    Return to;
    Message message;
  };
  std::vector<Reply> join(const MemberEvent& how, TimeNs now);
  /// body: hostile bytes.
  std::vector<Reply> handle(const Return& from, std::string_view body, TimeNs now);
  /// admin.report() may have changed.
  std::vector<Reply> report_changed(TimeNs now);

  const MemberMachine& machine() const noexcept { return machine_; }

 private:
  struct Watcher {
    Return to;
    TimeNs until = 0;
  };

  /// The last event is the request, if there is one.
  std::vector<Reply> step(std::deque<MemberEvent> events, const Return* from, TimeNs now);
  void tell_watchers(std::vector<Reply>& replies, TimeNs now);
  std::vector<Reply> dispatch(const Return& from, const Message& message, TimeNs now);
  Message answer(const MembersRequest& request);
  Message answer(const ListRequest& request) const;
  Message answer(const PlanRequest& request) const;
  Message answer(const AddressesRequest& request) const;
  Message answer(const HoldRequest& request) const;
  Message status(const StatusRequest& request, TimeNs now) const;
  Message watch(const Return& from, const WatchRequest& request, TimeNs now);
  void count_members(TimeNs now);
  bool look_for_holders(const StandingRequest& request, TimeNs now);

  JobFacts job_;
  MemberId self_;
  core::Admin& admin_;
  MemberMachine machine_;
  Shown shown_;
  Return coordinator_;  // the last sender of a promise request or order that was not stale
  bool has_coordinator_ = false;
  std::vector<Watcher> watchers_;
  std::optional<TimeNs> counted_at_, looked_at_;
  std::size_t pages_ = 0;  // member pages sent so far
};

}  // namespace livebtl::control
