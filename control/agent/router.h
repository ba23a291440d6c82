// SPDX-License-Identifier: BSD-3-Clause
// control/agent/router.h -- a member's sockets: takes messages in, answers them, and passes on those for
// others.
//
// Passing on keeps no state but open sockets: the way back travels in the envelope. An envelope names at
// most one relay and one process, so nothing goes round in circles. This member's own questions and the
// messages that it passes on have separate sockets: however many questions it asks, a client that commands
// the job through it is not held up.
//
// Threads: the agent's alone.
#pragma once

#include <poll.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "base/clock.h"
#include "control/agent/forwarders.h"
#include "control/place/member_file.h"
#include "control/wire/route.h"
#include "control/wire/zmq_socket.h"

namespace livebtl::control {

class Router {
 public:
  /// Listens on the member's socket in the job's directory. Errors: kSystem, kNoMemory (of
  /// descriptors).
  static Result<Router> open(const JobFacts& job, ProcessId self);
  Router(Router&&) = default;
  Router& operator=(Router&&) = default;

  /// Also listens for other nodes, on these addresses and one port. Returns the relay as others are
  /// to write it (route.h). Errors: kSystem (on none of them).
  Result<std::string> open_relay(const std::vector<std::string>& addresses);

  struct Incoming {
    Return from;
    std::string body;
  };
  /// The next message for this member. Messages for others are passed on meanwhile.
  std::optional<Incoming> receive();
  void answer(const Return& to, const std::string& body);

  /// A question of this member's own, for `asked`. Its answer comes by next_answer(), or never.
  void ask(const Route& to, ProcessId asked, const std::string& body);
  struct Answered {
    ProcessId asked{};  // by this member's own note, which the answer brought back
    std::string body;   // hostile
  };
  /// receive() has collected it.
  std::optional<Answered> next_answer();
  /// Closes what was opened for questions alone.
  void hang_up() { questions_.close_all(); }
  /// Has a member of that name a socket on this node?
  bool lives_here(ProcessId process) const;

  /// In each turn of the agent: closes idle sockets, and keeps some descriptors free.
  void turn(TimeNs now);
  /// When turn() wants to be called for that; INT64_MAX: nothing is open.
  TimeNs wake_at() const noexcept { return std::min(passing_.due_at(), questions_.due_at()); }

  /// Adds what to poll for POLLIN; ask pending() before sleeping.
  void add_poll_fds(std::vector<pollfd>& fds) const;
  bool pending() const;
  zmq::context_t& context() noexcept { return *context_; }

 private:
  static constexpr std::size_t kPassingMax = 128;   // sockets
  static constexpr std::size_t kQuestionsMax = 64;  // sockets
  static constexpr std::uint8_t kLocal = 0;
  static constexpr std::uint8_t kRelay = 1;

  Router(const JobFacts& job, ProcessId self, std::unique_ptr<zmq::context_t> context,
         ZmqSocket local);
  std::optional<Incoming> take(std::uint8_t listener, Envelope envelope);
  void pass_on(std::uint8_t listener, const Envelope& envelope, const Route& route);
  /// Hides the member's socket while hardly any descriptor is left in the process: libzmq would abort it
  /// if it had none for a connection that it accepts. Checks from time to time.
  void mind_descriptors(TimeNs now);
  void bring_back(const Envelope& envelope);
  std::string endpoint_of(const Route& route) const;
  void take_answer(Envelope envelope);
  ZmqSocket* listener(std::uint8_t number);
  void refuse(std::uint8_t listener, const Envelope& envelope, std::string text,
              Errc code = Errc::kUnreachable);

  JobFacts job_;
  ProcessId self_;
  std::unique_ptr<zmq::context_t> context_;  // before the sockets: they go first
  std::optional<ZmqGate> gate_;
  std::optional<ZmqSocket> relay_;
  std::string relay_name_;  // route.h; empty: this member does not relay
  std::optional<ZmqSocket> local_;
  Forwarders passing_{kPassingMax};
  Forwarders questions_{kQuestionsMax};
  std::deque<Answered> answers_;
  TimeNs descriptors_due_ = 0;
  bool hidden_ = false;  // the socket is renamed, so that nobody connects
};

}  // namespace livebtl::control
