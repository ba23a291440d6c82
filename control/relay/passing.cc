// SPDX-License-Identifier: BSD-3-Clause
// control/relay/passing.cc -- see passing.h.
#include "control/relay/passing.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/interfaces.h"
#include "control/client/discovery.h"
#include "control/place/job_secret.h"
#include "control/relay/addresses.h"
#include "control/wire/relay_talk.h"

namespace livebtl::control {
namespace {

constexpr int kSocketsMax = 256;
constexpr int kEnvelopesATurn = 256;
constexpr int kFromOneATurn = 64;  // one that never pauses holds up no other
constexpr std::size_t kMembersAsked = 128;
constexpr TimeNs kAskEvery = kSecond;
constexpr std::string_view kWithinNodeOnly =
    "without authentication a relay passes messages on within its node only";

/// As many connections as there are descriptors for: three each, and some for the rest.
FrontLimits limits_here() noexcept {
  constexpr std::size_t kOthers = 256;
  FrontLimits limits;
  rlimit descriptors{};
  if (::getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return limits;
  const auto left = std::max<std::size_t>(descriptors.rlim_cur, 2 * kOthers) - kOthers;
  limits.all = std::min(limits.all, left / 3);
  limits.unproved = std::min(limits.unproved, limits.all / 2);
  return limits;
}

MembersAnswer page_of(const MemberScan& scan, std::uint32_t offset) {
  std::vector<MemberEntry> entries;
  for (const auto& card : scan.live) entries.push_back(entry_of(card, false));
  for (const auto& card : scan.gone) entries.push_back(entry_of(card, true));
  MembersAnswer page;
  page.offset = offset;
  page.total = static_cast<std::uint32_t>(entries.size());
  page.complete = scan.complete;
  const std::size_t first = std::min<std::size_t>(offset, entries.size());
  const std::size_t last = std::min(first + kMembersAsked, entries.size());
  page.members.assign(entries.begin() + static_cast<std::ptrdiff_t>(first),
                      entries.begin() + static_cast<std::ptrdiff_t>(last));
  return page;
}

}  // namespace

Result<Passing> Passing::open(const RelayFacts& facts) {
  const std::string path = relay_file(facts.directory, facts.node, kRelaySocket);
  ::unlink(path.c_str());  // of a relay that was killed
  auto door = LocalDoor::listen(path, kConnectionsMax);
  if (!door) return tl::unexpected(door.error());
  auto context = make_zmq_context(kSocketsMax);
  if (!context) return tl::unexpected(context.error());
  return Passing(facts, std::make_unique<zmq::context_t>(std::move(*context)), std::move(*door));
}

void Passing::turn(TimeNs now) {
  here_.close_idle(now);
  here_.close_ended();
  away_.close_idle(now);
  door_.turn(now);
  if (front_) front_->turn(now);
  if (gate_) gate_->serve();
  hear_members();
  away_.each_named([this](ZmqSocket& socket, const std::string& relay) {
    hear_from(socket, {"", relay});
  });
  take_all();
  merging_.turn(now, *this);
  for (const std::string& peer : door_.ended()) members_.erase(peer);
}

/// Takes answers to our questions. Only sockets that have something cost a system call.
void Passing::hear_members() {
  std::vector<pollfd> fds;
  here_.each([&fds](const LocalLink& link) { fds.push_back(link.wanted()); });
  // If poll() fails (no memory, a signal), each is tried.
  const bool told = ::poll(fds.data(), fds.size(), 0) >= 0;
  std::size_t at = 0;
  here_.each_named([&](LocalLink& link, const std::string& path) {
    if (told && fds[at++].revents == 0) return;
    link.flush();
    hear_from(link, {path, ""});
  });
}

/// What is left shows up in the next poll, or in pending().
template <class Connection>
void Passing::hear_from(Connection& connection, const Asked& asked) {
  for (int i = 0; i < kFromOneATurn; ++i) {
    const auto envelope = connection.receive();
    if (!envelope) return;
    bring_back(*envelope, asked);
  }
}

/// Envelopes from this node, then from others; only so many of each before others have their turn.
void Passing::take_all() {
  for (int i = 0; i < kEnvelopesATurn; ++i) {
    auto envelope = door_.receive();
    if (!envelope) break;
    if (envelope->to == kHelloNote) {
      welcome(*envelope);
    } else {
      take(kLocal, *envelope);
    }
  }
  for (int i = 0; inner_ && i < kEnvelopesATurn; ++i) {
    auto envelope = inner_->receive();
    if (!envelope) break;
    take(kRelay, *envelope);
  }
}

/// A member has come. The first brings the secret, and with it the relay begins.
void Passing::welcome(const Envelope& hello) {
  const auto [name, text] = first_line(hello.body);
  const auto secret = parse_secret_text(text);
  if (!parse_process_name(name, "") || !secret) {
    return tell(hello.peer, kFailedNote, "the relay does not understand this member");
  }
  if (!secret_) {
    if (const auto begun = begin(*secret); !begun) {
      return tell(hello.peer, kFailedNote, begun.error().text);
    }
  }
  if (secret_text(*secret_) != secret_text(*secret)) {
    return tell(hello.peer, kFailedNote, "the relay of this node has another secret");
  }
  members_.insert(hello.peer);
  had_members_ = true;
  tell(hello.peer, kRelaysNote, front_->relay());
}

Status Passing::begin(const Secret& secret) {
  const auto addresses = relay_addresses(local_addresses(), facts_.relay_on);
  if (!addresses) return tl::unexpected(addresses.error());
  if (secret.present() && !gate_) {
    auto gate = ZmqGate::open(*context_, secret);
    if (!gate) return tl::unexpected(gate.error());
    gate_.emplace(std::move(*gate));
  }
  const std::string inner = relay_file(facts_.directory, facts_.node, kRelayInnerSocket);
  auto socket = ZmqSocket::listen(*context_, "ipc://" + inner, secret);
  if (!socket) return tl::unexpected(socket.error());
  auto front = Front::open(*addresses, facts_.port, inner, limits_here());
  if (!front) return tl::unexpected(front.error());
  inner_.emplace(std::move(*socket));
  front_.emplace(std::move(*front));
  secret_ = secret;
  return {};
}

void Passing::tell(const std::string& peer, std::string_view note, const std::string& body) {
  door_.send({.peer = peer, .back = "", .to = std::string(note), .body = body});
}

void Passing::take(std::uint8_t from, const Envelope& envelope) {
  auto route = parse_route(envelope.to);
  if (!route) return refuse(from, envelope, "the message's address is malformed");
  if (front_ && route->relay == front_->relay()) route->relay.clear();  // another name of ours
  const bool here = route->relay.empty();
  if (here && route->process == ProcessId{}) {
    return answer_self({from, envelope.peer, envelope.back}, envelope.body);
  }
  // A client outside the job's nodes reaches them all through one relay. An envelope names at most
  // one more, so none goes in circles; and nothing is forwarded for unauthenticated clients.
  if (!here && !forwards_for(from)) return refuse(from, envelope, std::string(kWithinNodeOnly));
  pass_on(from, envelope, *route);
}

void Passing::pass_on(std::uint8_t from, const Envelope& envelope, const Route& route) {
  const auto back = push_return({from, envelope.peer, envelope.back});
  if (!back) return refuse(from, envelope, "the message has been passed on too often");
  Envelope onward{.peer = "", .back = *back, .to = "", .body = envelope.body};
  if (!route.relay.empty()) {
    onward.to = format_route({"", route.process});
    if (!pass_on_away(onward, route.relay))
      refuse(from, envelope, "cannot pass the message on to " + route.relay);
    return;
  }
  const std::string name = process_name(route.process);
  if (proved_gone(facts_.directory, ::geteuid(), route.process))
    return refuse(from, envelope, name + " has ended", Errc::kPeerLost);
  if (::access(socket_path(facts_.directory, route.process).c_str(), F_OK) != 0)
    return refuse(from, envelope, "no member " + name + " on this node");
  if (!pass_on_here(onward, route.process))
    refuse(from, envelope, "cannot pass the message on to " + name);
}

bool Passing::pass_on_here(const Envelope& envelope, ProcessId process) {
  LocalLink* link = here_.to(socket_path(facts_.directory, process), LocalLink::connect);
  return link != nullptr && link->send(envelope);
}

bool Passing::pass_on_away(const Envelope& envelope, const std::string& relay) {
  const auto open = [this](const std::string& endpoint) {
    return ZmqSocket::connect(*context_, endpoint, secret_.value_or(Secret()));
  };
  ZmqSocket* socket = away_.to(relay, open);
  return socket != nullptr && socket->send(envelope);
}

void Passing::answer_self(const Return& to, const std::string& body) {
  const auto message = decode(body);
  const auto* asked = message ? std::get_if<MembersRequest>(&*message) : nullptr;
  const auto* merged = message ? std::get_if<NodeRequest>(&*message) : nullptr;
  Result<std::string> said = encode(ErrorAnswer{Errc::kInvalid, "a relay answers no such message"});
  const std::string job = asked != nullptr    ? asked->job
                          : merged != nullptr ? merged->order.job
                                              : std::string();
  if (!job.empty() && job != facts_.job) {
    said = encode(ErrorAnswer{Errc::kNotFound, "this is a relay of job " + facts_.job});
  } else if (asked != nullptr) {
    said = encode(members_for(*asked, to.listener));
  } else if (merged != nullptr && !merged->onward.empty() && !forwards_for(to.listener)) {
    said = encode(ErrorAnswer{Errc::kUnreachable, std::string(kWithinNodeOnly)});
  } else if (merged != nullptr) {
    return merging_.ask(to, *merged, monotonic_now(), *this);
  }
  if (said) answer(to, *said);
}

MembersAnswer Passing::members_for(const MembersRequest& asked, std::uint8_t from) {
  MembersAnswer page;
  if (asked.offset != kNoMembers)
    page = page_of(scan_members(facts_.directory, ::geteuid()), asked.offset);
  page.job = facts_.job;
  page.relays = fellows_.list();
  page.merges = true;
  if (from == kRelay) asked_from_away_at_ = monotonic_now();
  ask_for_relays(monotonic_now());
  return fit_page(std::move(page));
}

/// The members know other nodes' relays from their peers. Their answers serve the next question:
/// some member may never answer.
void Passing::ask_for_relays(TimeNs now) {
  if (now < ask_at_) return;
  ask_at_ = now + kAskEvery;
  fellows_.asked();
  const auto back = push_return({kSelf, "", ""});
  const auto question = encode(MembersRequest{facts_.job, kNoMembers});
  if (!back || !question) return;
  for (const auto& card : scan_members(facts_.directory, ::geteuid()).live) {
    if (card.joined)
      pass_on_here({.peer = "", .back = *back, .to = "", .body = *question}, card.member.process);
  }
}

void Passing::learn_relays(const std::string& body) {
  const auto message = decode(body);
  const auto* told = message ? std::get_if<MembersAnswer>(&*message) : nullptr;
  if (told != nullptr) fellows_.learn(told->relays);
}

bool Passing::has_ended(ProcessId member) const {
  return proved_gone(facts_.directory, ::geteuid(), member);
}

bool Passing::to_relay(const Envelope& envelope, const std::string& relay) {
  return pass_on_away(envelope, relay);
}

void Passing::bring_back(const Envelope& envelope, const Asked& asked) {
  const auto to = pop_return(envelope.back);
  if (!to) return;
  if (to->listener == kMerging) return bring_back_merged(*to, envelope, asked);
  if (to->listener == kSelf) {  // only members are asked this
    if (!asked.socket.empty()) learn_relays(envelope.body);
    return;
  }
  const Envelope onward{
      .peer = to->peer, .back = to->back, .to = envelope.to, .body = envelope.body};
  if (to->listener == kLocal) door_.send(onward);
  if (to->listener == kRelay && inner_) inner_->send(onward);
}

/// A member answers only over its own socket.
void Passing::bring_back_merged(const Return& to, const Envelope& envelope, const Asked& asked) {
  Merging::Sender from{std::nullopt, asked.relay};
  if (!asked.socket.empty()) {
    from.member = parse_process_name(envelope.to, "");
    if (!from.member || socket_path(facts_.directory, *from.member) != asked.socket) return;
  }
  merging_.bring_back(to, from, envelope.body, monotonic_now(), *this);
}

void Passing::answer(const Return& to, const std::string& body) {
  const Envelope envelope{.peer = to.peer, .back = to.back, .to = "", .body = body};
  if (to.listener == kLocal) door_.send(envelope);
  if (to.listener == kRelay && inner_) inner_->send(envelope);
}

void Passing::refuse(std::uint8_t from, const Envelope& envelope, std::string text, Errc code) {
  const auto body = encode(ErrorAnswer{code, std::move(text)});
  if (body) answer({from, envelope.peer, envelope.back}, *body);
}

TimeNs Passing::wake_at() const noexcept {
  const TimeNs front = front_ ? front_->wake_at() : INT64_MAX;
  return std::min({here_.due_at(), away_.due_at(), door_.wake_at(), front, merging_.wake_at()});
}

void Passing::add_poll_fds(std::vector<pollfd>& fds) const {
  door_.add_poll_fds(fds);
  if (front_) fds.push_back({front_->fd(), POLLIN, 0});
  if (gate_) fds.push_back({gate_->fd(), POLLIN, 0});
  if (inner_) fds.push_back({inner_->fd(), POLLIN, 0});
  here_.each([&fds](const LocalLink& link) { fds.push_back(link.wanted()); });
  away_.each([&fds](const ZmqSocket& socket) { fds.push_back({socket.fd(), POLLIN, 0}); });
}

bool Passing::pending() const {
  bool any = (inner_ && inner_->pending()) || (gate_ && gate_->pending());
  away_.each([&any](const ZmqSocket& socket) { any = any || socket.pending(); });
  return any;
}

}  // namespace livebtl::control
