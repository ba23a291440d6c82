// SPDX-License-Identifier: BSD-3-Clause
// control/client/job_links.h -- btlctl's connections to the members of one job.
//
// Members of this node are addressed directly, each over its own socket, so that a stopped one
// blocks only itself; those of other nodes through this node's relay. From outside, all goes
// through one relay. A coordinator's questions go to all members of a node at once, through relays
// that can do so (control/ladder/node_questions.h). Threads: one. Throws nothing.
#pragma once

#include <poll.h>

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/secret.h"
#include "control/client/discovery.h"
#include "control/client/remote_members.h"
#include "control/ladder/node_questions.h"
#include "control/wire/envelope.h"
#include "control/wire/local_link.h"
#include "control/wire/messages.h"
#include "control/wire/route.h"
#include "control/wire/zmq_socket.h"

namespace livebtl::control {

/// Where a relay is, for those outside.
struct RelayPlace {
  std::string name;       // as it was given, for people
  std::string endpoints;  // route.h
  Secret secret;          // absent: the job has none
};

class JobLinks {
 public:
  /// Reuses the job's members as just found, without another look. relays: in route.h's form, of
  /// nodes that the members here may not know.
  static JobLinks open(const JobPlace& job, const std::vector<std::string>& relays = {});
  /// From outside the job's nodes: everything goes through this relay, which is waited for. job: ""
  /// for whichever the relay has. Errors: kAuth (it rejects the secret), kUnreachable (nobody
  /// answers), kNotFound (it is of another job), kCancelled, kSystem.
  static Result<JobLinks> connect(const RelayPlace& relay, const std::string& job,
                                  const Deadline& deadline);
  JobLinks(JobLinks&&) = default;
  JobLinks& operator=(JobLinks&&) = delete;

  struct Found {
    std::vector<MemberEntry> live;
    std::vector<MemberEntry> gone;  // each with proof
  };
  /// Looks for members again; blocks for at most a second if relays do not answer.
  const Found& scan();
  const Found& found() const noexcept { return found_; }

  /// false: not sent, and it will not arrive.
  bool send(MemberId to, const Message& message);
  /// A coordinator's questions of one step, in as few messages as relays permit.
  void send(const std::vector<Send>& sends);
  /// Relays asked that way that have said nothing since; in route.h's form.
  std::vector<std::string> silent_relays() const;

  struct Heard {
    MemberId from;
    Message message;
    NodeQuestions::Heard merged;  // of a NodeStanding, which comes from several members
    std::size_t bytes = 0;        // of the message as it came
  };
  /// The next message; nullopt: timeout_ns has passed, or a signal came.
  std::optional<Heard> receive(TimeNs timeout_ns);

  /// How many messages a coordinator's questions took so far.
  struct Sent {
    std::uint64_t to_members = 0, to_relays = 0;
  };
  Sent sent() const noexcept { return sent_; }

  const std::string& job() const noexcept { return job_.id; }

 private:
  static constexpr int kSocketsMax = 8192;

  explicit JobLinks(JobPlace job) : job_(std::move(job)) {}

  LocalLink* link_to(ProcessId process);
  std::optional<LocalLink> connect_to_owner(const std::string& path) const;
  LocalLink* gateway();
  std::vector<ProcessId> near() const;
  template <class Connection>
  void hear_from(Connection& connection, bool relay);
  std::optional<Heard> take(const Envelope& envelope, bool relay);
  bool send(const Route& route, const std::string& back, const Message& message);
  bool send_encoded(const Route& route, const std::string& back, const std::string& body);
  std::optional<Route> route_to(MemberId member) const;
  bool wait_for_envelopes(TimeNs until);
  bool send_to_relay(const std::string& relay, const std::string& back, const Message& message);
  void ask(const AskRelay& question);
  void ask(const Send& question);
  bool ask_gateway();
  const std::string* merging_relay_of(MemberId member) const;
  void hear_page(const std::string& back, const MembersAnswer& page);
  NodeQuestions::Heard hear_relay(const std::string& back, const NodeStanding& told);
  void ask_for_relays();
  void ask_relays();
  void scan_remote();
  void take_cards(const MemberScan& scan);
  void hear_all();
  void list_links();
  void forget_gone();
  void note_gone(MemberEntry member);
  bool file_is_gone(ProcessId process) const;

  JobPlace job_;  // with members until the first scan()
  KnownCards cards_;
  std::map<ProcessId, LocalLink> links_;
  Found found_;
  std::vector<MemberEntry> local_;
  RemoteMembers remote_;
  bool one_node_ = false;  // all members found here say so
  bool relays_asked_ = false;
  std::size_t relay_answers_ = 0;  // in this scan, by members and gateway
  std::string gateway_path_;       // of this node's relay; empty: it has none
  std::optional<LocalLink> gateway_;
  bool gateway_merges_ = false;
  std::map<ProcessId, std::string> merging_;      // merging relays of other nodes, by member
  std::map<std::string, std::string> node_tags_;  // tags that relays' answers return, by relay
  NodeQuestions questions_;
  Sent sent_;
  Request asked_;                          // the last request to a single member ...
  std::string asked_body_;                 // ... as it is sent; empty: there was none
  std::string outside_relay_;              // from outside: everything goes through it
  std::optional<zmq::context_t> context_;  // only from outside; outlives its socket below
  std::optional<ZmqSocket> outside_;
  std::deque<Heard> backlog_;  // received, not yet asked for
  std::size_t backlog_bytes_ = 0;
  std::vector<pollfd> fds_;         // what is polled ...
  std::vector<LocalLink*> polled_;  // ... and whose it is
};

}  // namespace livebtl::control
