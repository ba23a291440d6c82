// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/node_merge.cc -- see node_merge.h.
#include "control/ladder/node_merge.h"

#include <algorithm>
#include <utility>

namespace livebtl::control {
namespace {

/// Is there nothing left to wait for? Decides when an answer is sent, never what it says.
bool settles(const Standing& standing, const Request& request) {
  if (standing.joining || standing.stale) return true;
  if (const auto* promise = std::get_if<PromiseRequest>(&request))
    return standing.term >= promise->term;
  if (const auto* order = std::get_if<Order>(&request)) {
    const bool newer =
        standing.term > order->term || (standing.term == order->term && standing.seq > order->seq);
    return newer || acknowledged(standing, *order) || standing.refused_seq == order->seq;
  }
  if (const auto* end = std::get_if<LadderEnd>(&request))
    return standing.term != end->term || !standing.busy;
  return true;
}

}  // namespace

// -- questions

std::vector<MergeAction> NodeMerge::ask(const std::string& client, const NodeRequest& request,
                                        TimeNs now) {
  const std::uint64_t number = session_of(client, now);
  Session& session = sessions_.at(number);
  const auto wanted = std::make_shared<const Request>(request_of(request));
  std::vector<MergeAction> actions;
  const std::size_t more = members_in(request);
  if (session.members.size() + more > kMembersMax) return actions;
  while (members() + more > kMembersMax) forget_oldest_but(number);
  const Question question{wanted, request.described, now};
  auto put = note_asked(session, request.members, 0, question);
  if (!put.empty()) actions.emplace_back(ToMembers{number, std::move(put), *wanted});
  for (const NodeShare& share : request.onward) {
    const auto via = via_of(session, share.relay);
    if (!via) continue;
    note_asked(session, share.members, *via, question);
    NodeRequest onward = request;
    onward.members = share.members;
    onward.onward.clear();
    actions.emplace_back(ToRelay{number, *via, share.relay, std::move(onward)});
  }
  // A relay that waits for others holds its answer longer than they do.
  session.hold = request.onward.empty() ? kHoldLeast : 2 * kHoldLeast;
  session.due_at = std::min(session.due_at, now + session.hold);
  session.asked_at = now;
  return actions;
}

std::uint64_t NodeMerge::session_of(const std::string& client, TimeNs now) {
  for (const auto& [number, session] : sessions_) {
    if (session.client == client) return number;
  }
  forget_old(now);
  if (sessions_.size() == kSessionsMax) forget_oldest_but(0);
  sessions_[++numbers_].client = client;
  return numbers_;
}

void NodeMerge::forget_old(TimeNs now) {
  std::erase_if(sessions_,
                [now](const auto& each) { return now - each.second.asked_at > kForgetAfter; });
}

/// The forgotten session's client asks again, and is given a new one. Requires: there is a session
/// other than `kept`.
void NodeMerge::forget_oldest_but(std::uint64_t kept) {
  const auto older = [kept](const auto& a, const auto& b) {  // of two different sessions
    if (a.first == kept || b.first == kept) return a.first != kept;
    return a.second.asked_at < b.second.asked_at;
  };
  sessions_.erase(std::min_element(sessions_.begin(), sessions_.end(), older));
}

std::size_t NodeMerge::members() const noexcept {
  std::size_t count = 0;
  for (const auto& [number, session] : sessions_) count += session.members.size();
  return count;
}

/// Returns the members to which the question is to be put now.
std::vector<ProcessId> NodeMerge::note_asked(Session& session,
                                             const std::vector<ProcessId>& members,
                                             std::uint32_t via, const Question& question) {
  std::vector<ProcessId> put;
  for (const ProcessId process : members) {
    Member& member = session.members[process];
    const bool again = member.waits && member.via == via && *member.asked == *question.request;
    member.asked = question.request;
    member.via = via;
    member.described = question.described;
    member.gone = false;  // if it is, that is found and reported again
    if (!std::exchange(member.waits, true)) ++session.waiting;
    if (again && question.now < member.put_again_at) continue;
    member.put_pause = again ? std::min(2 * member.put_pause, kPutAgainMost) : kPutAgainLeast;
    member.put_again_at = question.now + member.put_pause;
    put.push_back(process);
  }
  return put;
}

/// nullopt: too many relays; this one's members are not asked, and their coordinator asks them in
/// another way.
std::optional<std::uint32_t> NodeMerge::via_of(Session& session, const std::string& relay) {
  auto& relays = session.relays;
  const auto at = std::find(relays.begin(), relays.end(), relay);
  const auto via = static_cast<std::uint32_t>(at - relays.begin() + 1);
  if (at != relays.end()) return via;
  if (relays.size() == kRelaysMax) return std::nullopt;
  relays.push_back(relay);
  return via;
}

bool NodeMerge::went_to(std::uint64_t session, std::uint32_t via, const std::string& relay) const {
  const auto at = sessions_.find(session);
  return at != sessions_.end() && via > 0 && via <= at->second.relays.size() &&
         at->second.relays[via - 1] == relay;
}

// -- answers

std::vector<MergeAction> NodeMerge::heard(std::uint64_t number, const Standing& standing,
                                          TimeNs now) {
  const auto session = sessions_.find(number);
  if (session == sessions_.end()) return {};
  Member* member = asked(session->second, 0, standing.member.process);
  if (member != nullptr) take(session->second, *member, {standing, true});
  return tell_if_due(session->second, now);
}

std::vector<MergeAction> NodeMerge::heard(std::uint64_t number, std::uint32_t via,
                                          const NodeStanding& answer, TimeNs now) {
  const auto session = sessions_.find(number);
  if (session == sessions_.end() || via == 0) return {};
  for (const StandingGroup& group : answer.groups) {
    for (std::size_t i = 0; i < group.members.size(); ++i) {
      Member* member = asked(session->second, via, group.members[i]);
      const bool is_news = member != nullptr && group.versions[i] > member->version;
      if (is_news) take(session->second, *member, standing_at(group, i));
    }
  }
  for (const ProcessId process : answer.gone) note_gone(session->second, via, process);
  return tell_if_due(session->second, now);
}

std::vector<MergeAction> NodeMerge::gone(std::uint64_t number, ProcessId process, TimeNs now) {
  const auto session = sessions_.find(number);
  if (session == sessions_.end()) return {};
  note_gone(session->second, 0, process);
  return tell_if_due(session->second, now);
}

/// nullptr: that member was not asked, or was asked another way.
NodeMerge::Member* NodeMerge::asked(Session& session, std::uint32_t via, ProcessId process) {
  const auto at = session.members.find(process);
  return at == session.members.end() || at->second.via != via ? nullptr : &at->second;
}

void NodeMerge::take(Session& session, Member& member, HeardStanding heard) {
  if (heard.standing.version <= member.version) return;  // repeated, or overtaken
  member.version = heard.standing.version;
  if (!member.news) ++session.news;
  member.news = std::move(heard);
  if (settles(member.news->standing, *member.asked)) settle(session, member);
}

void NodeMerge::note_gone(Session& session, std::uint32_t via, ProcessId process) {
  Member* member = asked(session, via, process);
  if (member == nullptr) return;
  settle(session, *member);
  if (!std::exchange(member->gone, true)) session.gone.push_back(process);
}

void NodeMerge::settle(Session& session, Member& member) {
  if (std::exchange(member.waits, false)) --session.waiting;
}

// -- telling

std::vector<MergeAction> NodeMerge::tell_if_due(Session& session, TimeNs now) {
  const bool news = session.news > 0 || !session.gone.empty();
  const bool complete = session.waiting == 0 && news;
  std::vector<MergeAction> actions;
  if (complete || now >= session.due_at) {
    actions.emplace_back(ToClient{session.client, tell(session)});
    session.due_at = INT64_MAX;
    if (!complete) session.hold = std::min(2 * session.hold, kHoldMost);
  } else if (news) {
    session.due_at = std::min(session.due_at, now + session.hold);
  }
  return actions;
}

NodeStanding NodeMerge::tell(Session& session) {
  NodeStanding answer;
  Grouping grouping;
  answer.asked = static_cast<std::uint32_t>(session.members.size());
  answer.answered = static_cast<std::uint32_t>(session.members.size() - session.waiting);
  for (auto& [process, member] : session.members) {
    if (member.waits && answer.missing.size() < kMissingMax) answer.missing.push_back(process);
    if (!member.news) continue;
    grouping.add(*member.news, member.described);
    member.news.reset();
  }
  answer.groups = grouping.take();
  answer.gone = std::exchange(session.gone, {});
  session.news = 0;
  return answer;
}

std::vector<MergeAction> NodeMerge::turn(TimeNs now) {
  forget_old(now);
  std::vector<MergeAction> actions;
  for (auto& [number, session] : sessions_) {
    if (now < session.due_at) continue;
    for (MergeAction& action : tell_if_due(session, now)) actions.push_back(std::move(action));
  }
  return actions;
}

TimeNs NodeMerge::wake_at() const noexcept {
  TimeNs wake = INT64_MAX;
  for (const auto& [number, session] : sessions_) wake = std::min(wake, session.due_at);
  return wake;
}

}  // namespace livebtl::control
