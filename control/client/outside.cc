// SPDX-License-Identifier: BSD-3-Clause
// control/client/outside.cc -- JobLinks from outside the job's nodes: the first exchange with a
// relay.
#include <poll.h>

#include <algorithm>
#include <utility>

#include "control/client/job_links.h"
#include "control/client/relay_address.h"
#include "control/wire/zmq_watch.h"

namespace livebtl::control {
namespace {

constexpr TimeNs kAskedAgain = 100 * kMillisecond;
// If a name has several addresses, another one may lead to the relay.
constexpr TimeNs kOtherAddresses = 500 * kMillisecond;
constexpr TimeNs kRefusedWithin = 200 * kMillisecond;
// A flood of messages must not delay the time-out or Ctrl-C.
constexpr int kEnvelopesAtOnce = 64;

/// Waits for a message, but not so long that a time-out or an interruption is noticed late.
void wait_a_little(const ZmqSocket& socket, TimeNs at_most) {
  if (socket.pending()) return;
  pollfd fd{socket.fd(), POLLIN, 0};
  const TimeNs wait = std::clamp<TimeNs>(at_most, kMillisecond, kAskedAgain);
  ::poll(&fd, 1, static_cast<int>(wait / kMillisecond));
}

std::string turned_away(const RelayPlace& relay) {
  const std::string text = relay.name + " refuses this btlctl: ";
  if (!relay.secret.present()) {
    return text +
           "give it the job's secret with --secret-file (`btlctl secret FILE` on a node of the job "
           "writes it)";
  }
  return text +
         "is this the job's secret, and is this its relay? `btlctl secret FILE` on a node of the "
         "job writes the former, `btlctl jobs` shows the latter";
}

std::string no_answer(const RelayPlace& relay, const ConnectionWatch& watch) {
  if (watch.connected()) {
    return relay.name + " takes connections, but does not answer; is the process stopped, or is " +
           "this no relay? `btlctl jobs` on a node of the job shows where it relays";
  }
  return "nobody can be reached at " + relay.name +
         "; is there a firewall in between? `btlctl jobs` on a node of the job shows where it "
         "relays (with "
         "LIVEBTL_RELAY=on a job of one node does too)";
}

/// A relay listens before `btlctl jobs` shows its port, and keeps that port: where nobody listens
/// now, nobody ever will, and there is nothing to wait for.
std::string nobody_listens(const RelayPlace& relay) {
  return "nobody listens at " + relay.name +
         ": the connection is refused; if that was a relay, its process has ended: `btlctl jobs` "
         "on "
         "a node of the job shows where it relays now";
}

/// The relay's job: its answer to our first question.
std::optional<Result<std::string>> first_answer(ZmqSocket& socket, const std::string& name) {
  for (int i = 0; i < kEnvelopesAtOnce; ++i) {
    const auto envelope = socket.receive();
    if (!envelope) break;
    const auto message = decode(envelope->body);
    if (!message) continue;
    if (const auto* answer = std::get_if<MembersAnswer>(&*message)) return answer->job;
    if (const auto* error = std::get_if<ErrorAnswer>(&*message))
      return fail(error->code, name + ": " + error->text);
  }
  return std::nullopt;
}

Result<std::string> greet(ZmqSocket& socket, ConnectionWatch& watch, const RelayPlace& relay,
                          const std::string& job, const Deadline& deadline) {
  const auto question = encode(MembersRequest{job, kNoMembers});
  if (!question) return tl::unexpected(question.error());
  TimeNs give_up = deadline.at;
  std::uint64_t failures = 0;
  while (!deadline.stopped()) {
    socket.send({.peer = "", .back = "greeting", .to = "", .body = *question});
    wait_a_little(socket, give_up - monotonic_now());
    if (auto answer = first_answer(socket, relay.name)) return std::move(*answer);
    watch.look();
    const bool failed_again = std::exchange(failures, watch.failures()) != watch.failures();
    if (failed_again && !watch.connected() && all_refuse(relay.endpoints, kRefusedWithin))
      return fail(Errc::kUnreachable, nobody_listens(relay));
    const TimeNs now = monotonic_now();
    const bool rejected = watch.turned_away() && !watch.welcomed();
    if (rejected) give_up = std::min(give_up, now + kOtherAddresses);
    if (now < give_up) continue;
    if (rejected) return fail(Errc::kAuth, turned_away(relay));
    return fail(Errc::kUnreachable, no_answer(relay, watch));
  }
  return fail(Errc::kCancelled, "interrupted; nothing was changed");
}

}  // namespace

Result<JobLinks> JobLinks::connect(const RelayPlace& relay, const std::string& job,
                                   const Deadline& deadline) {
  auto context = make_zmq_context(kSocketsMax);
  if (!context) return tl::unexpected(context.error());
  auto socket = ZmqSocket::caller(*context, relay.secret);
  if (!socket) return tl::unexpected(socket.error());
  std::string name;
  {
    auto watch = ConnectionWatch::begin(*context, *socket);
    if (!watch) return tl::unexpected(watch.error());
    if (auto called = socket->call(relay.endpoints); !called) return tl::unexpected(called.error());
    auto greeted = greet(*socket, *watch, relay, job, deadline);
    if (!greeted) return tl::unexpected(greeted.error());
    name = std::move(*greeted);
    if (!job.empty() && name != job) {
      return fail(Errc::kNotFound, relay.name + " is a relay of the job " + name + ", not of " +
                                       job + "; `btlctl jobs` on a node of the job shows its own");
    }
  }
  JobLinks links(JobPlace{name, "", 0, {}});
  links.context_ = std::move(*context);
  links.outside_ = std::move(*socket);
  links.outside_relay_ = relay.endpoints;
  links.remote_.learn({relay.endpoints});
  links.scan();
  links.scan();  // again: the members now known know other relays
  return links;
}

}  // namespace livebtl::control
