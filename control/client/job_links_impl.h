// SPDX-License-Identifier: BSD-3-Clause
// control/client/job_links_impl.h -- the inside of JobLinks, for job_links.cc and outside.cc alone.
#pragma once

#include <poll.h>

#include <deque>
#include <map>

#include "control/client/job_links.h"
#include "control/client/remote_members.h"
#include "control/wire/route.h"
#include "control/wire/zmq_socket.h"

namespace livebtl::control {

inline constexpr int kLinkSocketsMax = 8192;

struct JobLinks::Impl {
  Impl(JobPlace place, zmq::context_t made) : job(std::move(place)), context(std::move(made)) {}

  ZmqSocket* socket_to(ProcessId process);
  std::vector<ProcessId> near() const;
  std::optional<Heard> take_from(ZmqSocket& socket);
  bool send(const Route& route, const std::string& back, const Message& message);
  bool wait_for_envelopes(TimeNs until);
  void ask_for_relays();
  void ask_relays();
  void scan_remote();
  std::optional<Heard> take();
  void forget_gone();
  void note_gone(MemberEntry member);
  bool file_is_gone(ProcessId process) const;

  JobPlace job;
  zmq::context_t context;  // before the sockets: they go first
  std::map<ProcessId, ZmqSocket> sockets;
  Found found;
  std::vector<MemberEntry> local;
  RemoteMembers remote;
  bool relays_asked = false;
  std::size_t relay_answers = 0;     // of members of this node, in this scan
  std::optional<ProcessId> gateway;  // a member of this node that has answered lately
  std::string outside_relay;         // from outside: everything goes through it
  std::optional<ZmqSocket> outside;
  std::deque<Heard> backlog;  // arrived during a scan
  std::vector<pollfd> fds;
};

}  // namespace livebtl::control
