// SPDX-License-Identifier: BSD-3-Clause
// control/join.cc -- see join.h.
#include "control/join.h"

#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/discovery.h"
#include "control/messages.h"
#include "control/zmq_socket.h"

namespace livebtl::control {
namespace {

constexpr TimeNs kPatience = 30 * kSecond;
constexpr TimeNs kAnswerTime = 500 * kMillisecond;
constexpr int kPollMs = 50;  // how soon `stop` is noticed

void wait_for(const ZmqSocket& socket) {
  if (socket.pending()) return;
  pollfd fd{socket.fd(), POLLIN, 0};
  ::poll(&fd, 1, kPollMs);
}

/// nullopt: no answer in time, or it does not know either.
std::optional<Standing> ask(zmq::context_t& context, const JobFacts& job, ProcessId member,
                            const std::atomic<bool>& stop) {
  auto socket =
      ZmqSocket::connect(context, "ipc://" + socket_path(job.directory, member), Secret());
  const auto request = encode(StandingRequest{job.id});
  if (!socket || !request) return std::nullopt;
  socket->send({.peer = "", .back = "", .to = "", .body = *request});
  const TimeNs deadline = monotonic_now() + kAnswerTime;
  while (monotonic_now() < deadline && !stop.load()) {
    wait_for(*socket);
    const auto letter = socket->receive();
    if (!letter) continue;
    const auto message = decode(letter->body);
    const auto* standing = message ? std::get_if<Standing>(&*message) : nullptr;
    if (standing == nullptr || standing->member.process != member || standing->joining) {
      return std::nullopt;
    }
    return *standing;
  }
  return std::nullopt;
}

}  // namespace

Result<MemberEvent> learn_standing(zmq::context_t& context, const JobFacts& job, ProcessId self,
                                   const std::atomic<bool>& stop) {
  const TimeNs deadline = monotonic_now() + kPatience;
  std::string silent;
  while (!stop.load()) {
    silent.clear();
    for (const MemberCard& card : scan_members(job.directory, ::geteuid()).live) {
      if (card.member.process == self || !card.joined) continue;
      if (auto standing = ask(context, job, card.member.process, stop)) return JoinFrom{*standing};
      silent = card.name;
    }
    if (silent.empty()) return JoinAsFirst{};
    if (monotonic_now() >= deadline) {
      return fail(Errc::kTimeout,
                  "job " + job.id + " runs already, but its members do not answer (" + silent +
                      " is one); let them run, or end them, and start this process again");
    }
  }
  return fail(Errc::kCancelled, "stopped while joining job " + job.id);
}

}  // namespace livebtl::control
