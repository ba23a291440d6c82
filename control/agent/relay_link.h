// SPDX-License-Identifier: BSD-3-Clause
// control/agent/relay_link.h -- a member's single connection to its node's relay; starts a relay if
// there is none.
//
// The relay lives at least as long as any such connection. When it ends, all members try to start
// the next one, and a lock lets one do so. A failure for want of descriptors, processes or the
// program is logged once and retried. Threads: the agent's alone.
#pragma once

#include <poll.h>

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "control/place/fork_watch.h"
#include "control/place/job.h"
#include "control/wire/local_link.h"

namespace livebtl::control {

class RelayLink {
 public:
  RelayLink(const JobFacts& job, ProcessId self) : job_(job), self_(self) {}

  /// Connects, starts a relay, hears what it says: as far as possible without waiting.
  void turn(TimeNs now);
  TimeNs wake_at() const noexcept { return link_ ? INT64_MAX : retry_at_; }

  /// The relay as route.h writes it; empty: there is none now.
  const std::string& relay() const noexcept { return relay_; }
  /// The relay's answer to a send().
  std::optional<Envelope> receive();
  /// false: dropped; see LocalLink::send().
  bool send(const Envelope& envelope) { return !relay_.empty() && link_->send(envelope); }

  void add_poll_fds(std::vector<pollfd>& fds) const {
    if (link_) fds.push_back(link_->wanted());
  }

 private:
  static constexpr std::size_t kAnswersMax = 1024;

  void connect(TimeNs now);
  void greet();
  void start_if_ours(TimeNs now);
  bool take_start_lock();
  void hear();
  void hang_up(TimeNs now);
  void cannot(const std::string& why);

  JobFacts job_;
  ProcessId self_;
  std::optional<LocalLink> link_;
  std::optional<ClosedInChild> only_here_;  // after link_: destroyed first
  std::string relay_;
  std::uint16_t port_ = 0;  // of the last relay; the next one should reuse it
  std::deque<Envelope> answers_;

  Fd start_lock_;  // held from a start to the relay's first word
  std::optional<ClosedInChild> lock_only_here_;
  TimeNs start_again_at_ = 0;
  TimeNs start_pause_ = 0;
  TimeNs retry_at_ = 0;
  TimeNs retry_pause_ = 0;
  std::string said_;  // the last failure logged
};

}  // namespace livebtl::control
