// SPDX-License-Identifier: BSD-3-Clause
// control/agent/router.h -- a member's sockets: receives messages and answers them, and asks
// others.
//
// It passes nothing on: other nodes reach this member through their relay and its node's. Threads:
// the agent's alone.
#pragma once

#include <poll.h>

#include <algorithm>
#include <deque>
#include <set>
#include <vector>

#include "base/clock.h"
#include "control/agent/relay_link.h"
#include "control/place/member_file.h"
#include "control/wire/forwarders.h"
#include "control/wire/local_door.h"
#include "control/wire/route.h"

namespace livebtl::control {

class Router {
 public:
  /// Listens on the member's socket in the job's directory. Errors: kSystem, kNoMemory (no
  /// descriptor).
  static Result<Router> open(const JobFacts& job, ProcessId self);
  Router(Router&&) = default;
  Router& operator=(Router&&) = delete;

  /// From now on, keeps a connection to the node's relay, and starts one if there is none.
  void need_relay() {
    if (!relay_link_) relay_link_.emplace(job_, self_);
  }
  bool needs_relay() const noexcept { return relay_link_.has_value(); }
  /// As route.h writes it; empty: there is none now.
  const std::string& relay() const noexcept {
    return relay_link_ ? relay_link_->relay() : no_relay_;
  }

  struct Incoming {
    Return from;
    std::string body;
  };
  /// The next message for this member.
  std::optional<Incoming> receive();
  void answer(const Return& to, const std::string& body);

  /// What a helper of this member says (relay_talk.h), or that it has gone.
  struct Note {
    std::string peer;
    std::optional<std::string> body;  // nullopt: its connection has ended
  };
  std::optional<Note> next_note();

  /// This member's own question, for `asked`. Its answer comes by next_answer(), or never.
  void ask(const Route& to, ProcessId asked, const std::string& body);
  struct Answered {
    ProcessId asked{};  // from our own tag, which the answer brought back
    bool by_relay = false;
    std::string body;  // hostile
  };
  /// Collected by receive().
  std::optional<Answered> next_answer();
  /// Closes connections opened only for questions.
  void hang_up() { questions_.close_all(); }
  /// Does that process have a socket on this node?
  bool lives_here(ProcessId process) const;

  /// In each turn of the agent: accepts connections, closes idle ones, sees to the relay.
  void turn(TimeNs now);
  /// When turn() is due for that; INT64_MAX: nothing is due.
  TimeNs wake_at() const noexcept;
  void add_poll_fds(std::vector<pollfd>& fds) const;
  SpareDescriptors& spares() noexcept { return door_.spares(); }

 private:
  static constexpr std::size_t kConnectionsMax = 256;
  static constexpr std::size_t kQuestionsMax = 64;  // connections
  static constexpr std::size_t kNotesMax = 64;
  static constexpr std::uint8_t kLocal = 0;

  Router(const JobFacts& job, ProcessId self, LocalDoor door)
      : job_(job), self_(self), door_(std::move(door)) {}
  std::optional<Incoming> take(Envelope envelope);
  void take_answers();
  void take_answer(Envelope envelope, bool by_relay);
  void take_note(Note note);
  void refuse(const Envelope& envelope, std::string text);

  JobFacts job_;
  ProcessId self_;
  LocalDoor door_;
  std::optional<RelayLink> relay_link_;
  std::string no_relay_;
  Forwarders<LocalLink> questions_{kQuestionsMax};
  std::deque<Answered> answers_;
  std::deque<Note> notes_;
  std::set<std::string> helpers_;  // peers that sent kFinisherNote, until they end
  bool said_starved_ = false;
};

}  // namespace livebtl::control
