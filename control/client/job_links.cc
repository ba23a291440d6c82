// SPDX-License-Identifier: BSD-3-Clause
// control/client/job_links.cc -- see job_links.h. Members of other nodes: job_links_remote.cc.
#include "control/client/job_links.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/process_files.h"
#include "control/place/member_file.h"

namespace livebtl::control {
namespace {

constexpr int kFromOneAtOnce = 64;  // a member that never pauses holds up no other
// A few answers from each of ten thousand members. Anything beyond is dropped, and whoever misses
// it asks again: left in the sockets, it would keep the relays behind it from being heard.
constexpr std::size_t kBacklogBytesMax = std::size_t{64} << 20;

}  // namespace

JobLinks JobLinks::open(const JobPlace& job, const std::vector<std::string>& relays) {
  JobLinks links(job);
  links.remote_.learn_named(relays);
  links.scan();
  return links;
}

const JobLinks::Found& JobLinks::scan() {
  if (outside_) {
    scan_remote();
    found_ = {};
    remote_.add_to(found_.live, found_.gone);
    return found_;
  }
  MemberScan scan = std::exchange(job_.members, {});
  if (scan.live.empty()) scan = scan_members(job_.directory, job_.owner, &cards_);
  const std::vector<MemberEntry> before = std::exchange(local_, {});
  take_cards(scan);
  for (const auto& card : scan.gone) {
    if (!card.left_behind) note_gone(entry_of(card, true));
  }
  for (const auto& member : before) {
    if (!holds(local_, member.member) && file_is_gone(member.member.process)) {
      note_gone(member);
    }
  }
  forget_gone();
  scan_remote();
  found_.live = local_;
  remote_.add_to(found_.live, found_.gone);
  return found_;
}

void JobLinks::take_cards(const MemberScan& scan) {
  gateway_path_.clear();
  one_node_ = true;
  for (const auto& card : scan.live) {
    one_node_ = one_node_ && card.one_node;
    local_.push_back(entry_of(card, false));
    const auto node = parse_process_name(card.node, "");
    if (!card.relay.empty() && node && gateway_path_.empty())
      gateway_path_ = job_.directory + "/" + process_file(*node, kRelaySocket);
  }
}

/// A member's file is removed only by the member, when it leaves, or by a process that found it
/// dead.
bool JobLinks::file_is_gone(ProcessId process) const {
  return ::access(card_path(job_.directory, process).c_str(), F_OK) != 0 && errno == ENOENT;
}

void JobLinks::note_gone(MemberEntry member) {
  if (holds(found_.gone, member.member)) return;
  member.gone = true;
  found_.gone.push_back(std::move(member));
}

void JobLinks::forget_gone() {
  const auto has_left = [this](ProcessId process) {
    return std::none_of(local_.begin(), local_.end(), [process](const MemberEntry& live) {
      return live.member.process == process;
    });
  };
  std::erase_if(links_, [&](const auto& entry) { return has_left(entry.first); });
}

/// In another user's directory a path may lead anywhere, even to somebody else's job: check which
/// user listens there.
std::optional<LocalLink> JobLinks::connect_to_owner(const std::string& path) const {
  auto link = LocalLink::connect(path);
  const bool theirs = link && (job_.owner == ::geteuid() || link->listener() == job_.owner);
  return theirs ? std::optional(std::move(*link)) : std::nullopt;
}

/// nullptr: it does not listen, or there is no room for one more connection now.
LocalLink* JobLinks::link_to(ProcessId process) {
  const auto known = links_.find(process);
  if (known != links_.end() && !known->second.closed()) return &known->second;
  if (known != links_.end()) links_.erase(known);
  auto link = connect_to_owner(socket_path(job_.directory, process));
  return link ? &links_.emplace(process, std::move(*link)).first->second : nullptr;
}

LocalLink* JobLinks::gateway() {
  if (gateway_ && gateway_->closed()) gateway_.reset();
  if (!gateway_ && !gateway_path_.empty()) {
    gateway_merges_ = false;  // until it says so: it may be of an earlier version
    gateway_ = connect_to_owner(gateway_path_);
  }
  return gateway_ ? &*gateway_ : nullptr;
}

bool JobLinks::send(const Route& route, const std::string& back, const Message& message) {
  const auto body = encode(message);
  return body && send_encoded(route, back, *body);
}

bool JobLinks::send_encoded(const Route& route, const std::string& back, const std::string& body) {
  Envelope envelope{.peer = "", .back = back, .to = "", .body = body};
  if (outside_) {
    envelope.to = format_route({route.relay == outside_relay_ ? "" : route.relay, route.process});
    return outside_->send(envelope);
  }
  const bool here = route.relay.empty();
  if (!here) envelope.to = format_route(route);
  LocalLink* link = here ? link_to(route.process) : gateway();
  return link != nullptr && link->send(envelope);
}

bool JobLinks::send(MemberId to, const Message& message) {
  const auto route = route_to(to);
  return route && send(*route, "", message);
}

/// nullopt: no known relay leads to it.
std::optional<Route> JobLinks::route_to(MemberId member) const {
  if (holds(local_, member)) return Route{"", member.process};
  const std::string* relay = remote_.relay_of(member.process);
  return relay == nullptr ? std::nullopt : std::optional(Route{*relay, member.process});
}

/// Takes in what has come. One poll() finds the links that have something; to try each link for
/// each message would cost the square of the members.
void JobLinks::hear_all() {
  if (outside_) return hear_from(*outside_, true);
  list_links();
  if (::poll(fds_.data(), fds_.size(), 0) <= 0) return;
  for (std::size_t i = 0; i < fds_.size(); ++i) {
    if (fds_[i].revents == 0) continue;
    polled_[i]->flush();
    hear_from(*polled_[i], gateway_ && polled_[i] == &*gateway_);
  }
}

void JobLinks::list_links() {
  fds_.clear();
  polled_.clear();
  const auto list = [this](LocalLink& link) {
    if (link.closed()) return;
    fds_.push_back(link.wanted());
    polled_.push_back(&link);
  };
  for (auto& [process, link] : links_) list(link);
  if (gateway_) list(*gateway_);
}

/// Every envelope counts, whatever it says.
template <class Connection>
void JobLinks::hear_from(Connection& connection, bool relay) {
  for (int i = 0; i < kFromOneAtOnce; ++i) {
    const auto envelope = connection.receive();
    if (!envelope) return;
    auto heard = take(*envelope, relay);
    if (!heard) continue;
    heard->bytes = envelope->body.size();
    backlog_bytes_ += heard->bytes;
    backlog_.push_back(std::move(*heard));
  }
}

/// relay: it came over the connection to a relay. nullopt: nobody waits for it, or there is no room
/// for it. Pages of members need no room: they are taken at once.
std::optional<JobLinks::Heard> JobLinks::take(const Envelope& envelope, bool relay) {
  auto message = decode(envelope.body);
  const auto from = parse_route(envelope.to);
  if (!message || !from) return std::nullopt;
  if (const auto* page = std::get_if<MembersAnswer>(&*message)) {
    hear_page(envelope.back, *page);
    return std::nullopt;
  }
  if (backlog_bytes_ >= kBacklogBytesMax) return std::nullopt;
  if (const auto* told = std::get_if<NodeStanding>(&*message)) {
    if (!relay) return std::nullopt;
    return Heard{{}, NodeStanding{}, hear_relay(envelope.back, *told), 0};
  }
  for (const auto* list : {&local_, &found_.live}) {
    for (const MemberEntry& live : *list) {
      if (live.member.process == from->process)
        return Heard{live.member, std::move(*message), {}, 0};
    }
  }
  return std::nullopt;
}

/// false: interrupted by a signal.
bool JobLinks::wait_for_envelopes(TimeNs until) {
  const TimeNs left = until - monotonic_now();
  if (left <= 0) return true;
  if (outside_ && outside_->pending()) return true;
  list_links();
  if (outside_) fds_.push_back({outside_->fd(), POLLIN, 0});
  const timespec limit{static_cast<time_t>(left / kSecond), static_cast<long>(left % kSecond)};
  return ::ppoll(fds_.data(), fds_.size(), &limit, nullptr) >= 0;
}

std::optional<JobLinks::Heard> JobLinks::receive(TimeNs timeout_ns) {
  const TimeNs deadline = monotonic_now() + timeout_ns;
  while (backlog_.empty()) {
    hear_all();
    if (!backlog_.empty()) break;
    if (monotonic_now() >= deadline || !wait_for_envelopes(deadline)) return std::nullopt;
  }
  Heard heard = std::move(backlog_.front());
  backlog_.pop_front();
  backlog_bytes_ -= heard.bytes;
  return heard;
}

}  // namespace livebtl::control
