// SPDX-License-Identifier: BSD-3-Clause
// control/client/job_links.cc -- see job_links.h.
#include "control/client/job_links.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "control/client/job_links_impl.h"
#include "control/place/member_file.h"
#include "control/wire/route.h"

namespace livebtl::control {
namespace {

constexpr TimeNs kRelayAnswers = kSecond;
constexpr TimeNs kRelayAskedAgain = 50 * kMillisecond;
constexpr TimeNs kLocalAnswers = 300 * kMillisecond;
constexpr std::uint32_t kNoMembers =
    UINT32_MAX;  // an offset past the end: only the relays are wanted

}  // namespace

JobLinks::JobLinks(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JobLinks::JobLinks(JobLinks&&) noexcept = default;
JobLinks& JobLinks::operator=(JobLinks&&) noexcept = default;
JobLinks::~JobLinks() = default;
const JobLinks::Found& JobLinks::found() const noexcept { return impl_->found; }
const std::string& JobLinks::job() const noexcept { return impl_->job.id; }

Result<JobLinks> JobLinks::open(const JobPlace& job) {
  auto context = make_zmq_context(kLinkSocketsMax);
  if (!context) return tl::unexpected(context.error());
  JobLinks links(std::make_unique<Impl>(job, std::move(*context)));
  links.scan();
  return links;
}

const JobLinks::Found& JobLinks::scan() {
  if (impl_->outside) {
    impl_->scan_remote();
    impl_->found = {};
    impl_->remote.add_to(impl_->found.live, impl_->found.gone);
    return impl_->found;
  }
  const MemberScan scan = scan_members(impl_->job.directory, impl_->job.owner);
  const std::vector<MemberEntry> before = std::exchange(impl_->local, {});
  for (const auto& card : scan.live) impl_->local.push_back(entry_of(card, false));
  for (const auto& card : scan.gone) impl_->note_gone(entry_of(card, true));
  for (const auto& member : before) {
    if (!holds(impl_->local, member.member) && impl_->file_is_gone(member.member.process)) {
      impl_->note_gone(member);
    }
  }
  impl_->forget_gone();
  impl_->scan_remote();
  impl_->found.live = impl_->local;
  impl_->remote.add_to(impl_->found.live, impl_->found.gone);
  return impl_->found;
}

/// Relays are learnt from the members of this node, and from those relays. In a job of one node none is
/// known, and later scans cost nothing.
void JobLinks::Impl::scan_remote() {
  const TimeNs deadline = monotonic_now() + kRelayAnswers;
  remote.begin_round(monotonic_now());
  const std::size_t asked = near().size();
  const bool first = !std::exchange(relays_asked, asked != 0);
  if (first || !remote.empty()) ask_for_relays();
  const TimeNs local_deadline = monotonic_now() + (first ? kLocalAnswers : 0);
  TimeNs pause = kRelayAskedAgain;  // grows: more questions do not help a slow relay
  TimeNs ask_again_at = monotonic_now() + pause;
  relay_answers = 0;
  for (;;) {
    ask_relays();
    while (auto heard = take()) backlog.push_back(std::move(*heard));
    const TimeNs now = monotonic_now();
    const bool hear_locals = relay_answers < asked && now < local_deadline;
    const bool hear_relays = !remote.round_complete() && now < deadline;
    if (!hear_locals && !hear_relays) break;
    if (now >= ask_again_at) {
      remote.ask_again();
      ask_again_at = now + (pause *= 2);
    }
    ask_relays();
    wait_for_envelopes(hear_relays ? std::min(deadline, ask_again_at) : local_deadline);
  }
  remote.end_round(monotonic_now());
}

void JobLinks::Impl::ask_for_relays() {
  for (const ProcessId member : near()) {
    send({outside_relay, member}, "", MembersRequest{job.id, kNoMembers});
  }
}

/// The processes that are asked for relays: the members of this node; from outside, those of our relay's
/// node, as far as they are known.
std::vector<ProcessId> JobLinks::Impl::near() const {
  if (outside) return remote.behind(outside_relay);
  std::vector<ProcessId> members;
  for (const MemberEntry& member : local) members.push_back(member.member.process);
  return members;
}

void JobLinks::Impl::ask_relays() {
  for (const auto& question : remote.take_questions()) {
    send({question.relay, ProcessId{}}, question.tag, MembersRequest{job.id, question.offset});
  }
}

/// Only the holder of its lock removes a member's file: the member, when it leaves, or a process that
/// found it dead.
bool JobLinks::Impl::file_is_gone(ProcessId process) const {
  return ::access(card_path(job.directory, process).c_str(), F_OK) != 0 && errno == ENOENT;
}

void JobLinks::Impl::note_gone(MemberEntry member) {
  if (holds(found.gone, member.member)) return;
  member.gone = true;
  found.gone.push_back(std::move(member));
}

void JobLinks::Impl::forget_gone() {
  const auto has_left = [this](ProcessId process) {
    return std::none_of(local.begin(), local.end(), [process](const MemberEntry& live) {
      return live.member.process == process;
    });
  };
  if (gateway && has_left(*gateway)) gateway.reset();
  std::erase_if(sockets, [&](const auto& entry) { return has_left(entry.first); });
}

ZmqSocket* JobLinks::Impl::socket_to(ProcessId process) {
  const auto known = sockets.find(process);
  if (known != sockets.end()) return &known->second;
  auto socket =
      ZmqSocket::connect(context, "ipc://" + socket_path(job.directory, process), Secret());
  if (!socket) return nullptr;
  return &sockets.emplace(process, std::move(*socket)).first->second;
}

bool JobLinks::Impl::send(const Route& route, const std::string& back, const Message& message) {
  const auto body = encode(message);
  if (!body) return false;
  if (outside) {
    const std::string relay = route.relay == outside_relay ? "" : route.relay;
    const std::string to = format_route({relay, route.process});
    return outside->send({.peer = "", .back = back, .to = to, .body = *body});
  }
  if (route.relay.empty()) {
    ZmqSocket* socket = socket_to(route.process);
    return socket != nullptr && socket->send({.peer = "", .back = back, .to = "", .body = *body});
  }
  if (!gateway && !local.empty()) gateway = local.front().member.process;
  ZmqSocket* socket = gateway ? socket_to(*gateway) : nullptr;
  return socket != nullptr &&
         socket->send({.peer = "", .back = back, .to = format_route(route), .body = *body});
}

bool JobLinks::send(MemberId to, const Message& message) {
  Route route{"", to.process};
  if (!holds(impl_->local, to)) {
    const std::string* relay = impl_->remote.relay_of(to.process);
    if (relay == nullptr) return false;
    route.relay = *relay;
  }
  return impl_->send(route, "", message);
}

std::optional<JobLinks::Heard> JobLinks::Impl::take() {
  if (outside) return take_from(*outside);
  for (auto& [process, socket] : sockets) {
    if (auto heard = take_from(socket)) return heard;
  }
  return std::nullopt;
}

std::optional<JobLinks::Heard> JobLinks::Impl::take_from(ZmqSocket& socket) {
  while (auto envelope = socket.receive()) {
    auto message = decode(envelope->body);
    const auto from = parse_route(envelope->to);
    if (!message || !from) continue;
    if (sockets.contains(from->process)) gateway = from->process;
    if (const auto* page = std::get_if<MembersAnswer>(&*message)) {
      remote.learn(page->relays);
      if (envelope->back.empty()) ++relay_answers;
      if (!envelope->back.empty()) remote.answer(envelope->back, *page);
      continue;
    }
    for (const auto* list : {&local, &found.live}) {
      for (const MemberEntry& live : *list) {
        if (live.member.process == from->process) return Heard{live.member, std::move(*message)};
      }
    }
  }
  return std::nullopt;
}

/// false: interrupted by a signal.
bool JobLinks::Impl::wait_for_envelopes(TimeNs until) {
  const TimeNs left = until - monotonic_now();
  if (left <= 0) return true;
  fds.clear();
  if (outside && outside->pending()) return true;
  if (outside) fds.push_back({outside->fd(), POLLIN, 0});
  for (auto& [process, socket] : sockets) {
    if (socket.pending()) return true;
    fds.push_back({socket.fd(), POLLIN, 0});
  }
  const timespec limit{static_cast<time_t>(left / kSecond), static_cast<long>(left % kSecond)};
  return ::ppoll(fds.data(), fds.size(), &limit, nullptr) >= 0;
}

std::optional<JobLinks::Heard> JobLinks::receive(TimeNs timeout_ns) {
  if (!impl_->backlog.empty()) {
    Heard heard = std::move(impl_->backlog.front());
    impl_->backlog.pop_front();
    return heard;
  }
  const TimeNs deadline = monotonic_now() + timeout_ns;
  for (;;) {
    if (auto heard = impl_->take()) return heard;
    if (monotonic_now() >= deadline || !impl_->wait_for_envelopes(deadline)) return std::nullopt;
  }
}

}  // namespace livebtl::control
