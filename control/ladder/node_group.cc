// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/node_group.cc -- see node_group.h.
#include "control/ladder/node_group.h"

#include <algorithm>
#include <set>
#include <utility>

namespace livebtl::control {
namespace {

/// How many groups a standing is compared with: if no two members are alike, the cost does not grow
/// with the square of their number.
constexpr std::size_t kComparedMax = 16;

/// What never changes while a process lives, except its id.
void leave_out_description(Standing& standing) {
  standing.name.clear();
  standing.rank = -1;
  standing.node.clear();
  standing.host.clear();
  standing.announced = 1;
  standing.transports.clear();
}

/// What may differ within a group.
void leave_out_columns(Standing& standing) {
  standing.member.process = ProcessId{};
  standing.version = 0;
  standing.name.clear();
  standing.rank = -1;
  standing.report.pairs_moved = standing.report.pairs_left = 0;
  standing.report.pairs.clear();
  standing.report.waiting.clear();
}

template <class T>
bool fits(const std::vector<T>& column, std::size_t members) {
  return column.empty() || column.size() == members;
}

template <class T>
std::vector<T> cut_tail(std::vector<T>& column, std::size_t first) {
  if (column.empty()) return {};
  const auto from = column.begin() + static_cast<std::ptrdiff_t>(first);
  std::vector<T> tail(std::make_move_iterator(from), std::make_move_iterator(column.end()));
  column.erase(from, column.end());
  return tail;
}

StandingGroup cut_group(StandingGroup& group, std::size_t first) {
  StandingGroup tail;
  tail.shared = group.shared;
  tail.described = group.described;
  tail.members = cut_tail(group.members, first);
  tail.versions = cut_tail(group.versions, first);
  tail.ranks = cut_tail(group.ranks, first);
  tail.names = cut_tail(group.names, first);
  tail.pairs_moved = cut_tail(group.pairs_moved, first);
  tail.pairs_left = cut_tail(group.pairs_left, first);
  const auto later = std::find_if(group.notes.begin(), group.notes.end(),
                                  [&](const MemberNote& note) { return note.at >= first; });
  tail.notes = cut_tail(group.notes, static_cast<std::size_t>(later - group.notes.begin()));
  for (MemberNote& note : tail.notes) note.at -= static_cast<std::uint32_t>(first);
  return tail;
}

}  // namespace

std::optional<NodeRequest> node_request(const Request& request) {
  NodeRequest node;
  if (const auto* standing = std::get_if<StandingRequest>(&request)) {
    node.order.job = standing->job;
    node.release = standing->release;
  } else if (const auto* promise = std::get_if<PromiseRequest>(&request)) {
    node.question = NodeQuestion::kPromise;
    node.order.job = promise->job;
    node.order.term = promise->term;
    node.takeover = promise->takeover;
  } else if (const auto* order = std::get_if<Order>(&request)) {
    node.question = NodeQuestion::kOrder;
    node.order = *order;
  } else if (const auto* end = std::get_if<LadderEnd>(&request)) {
    node.question = NodeQuestion::kEnd;
    node.order.job = end->job;
    node.order.term = end->term;
    node.order.seq = end->seq;
    node.unfinished = end->unfinished;
  } else {
    return std::nullopt;
  }
  return node;
}

Request request_of(const NodeRequest& request) {
  const Order& order = request.order;
  switch (request.question) {
    case NodeQuestion::kPromise:
      return PromiseRequest{order.job, order.term, request.takeover};
    case NodeQuestion::kOrder:
      return order;
    case NodeQuestion::kEnd:
      return LadderEnd{order.job, order.term, request.unfinished, order.seq};
    case NodeQuestion::kStanding:
      break;
  }
  return StandingRequest{order.job, request.release};
}

std::size_t members_in(const NodeRequest& request) noexcept {
  std::size_t count = request.members.size();
  for (const NodeShare& share : request.onward) count += share.members.size();
  return count;
}

void Grouping::add(const HeardStanding& heard, bool described) {
  Standing shared = heard.standing;
  const bool tells = described && heard.described;
  leave_out_columns(shared);
  if (!tells) leave_out_description(shared);
  const auto alike = [&](const StandingGroup& group) {
    return group.described == tells && group.members.size() < kGroupMax && group.shared == shared;
  };
  const auto compared = std::min(groups_.size(), kComparedMax);
  const auto first = groups_.end() - static_cast<std::ptrdiff_t>(compared);
  auto at = std::find_if(first, groups_.end(), alike);
  if (at == groups_.end()) {
    groups_.emplace_back().shared = std::move(shared);
    at = groups_.end() - 1;
    at->described = tells;
  }
  const Standing& standing = heard.standing;
  at->members.push_back(standing.member.process);
  at->versions.push_back(standing.version);
  if (tells) at->ranks.push_back(standing.rank);
  if (tells) at->names.push_back(standing.name);
  at->pairs_moved.push_back(standing.report.pairs_moved);
  at->pairs_left.push_back(standing.report.pairs_left);
  if (standing.report.pairs.empty() && standing.report.waiting.empty()) return;
  const auto place = static_cast<std::uint32_t>(at->members.size() - 1);
  at->notes.push_back({place, standing.report.pairs, standing.report.waiting});
}

std::string check_group(const StandingGroup& group) {
  const std::size_t count = group.members.size();
  if (group.shared.member.process != ProcessId{}) return "'shared.member.process' must be zero";
  if (count == 0 || count > kGroupMax) return "'members' must have 1 to 1024 entries";
  const bool columns = group.versions.size() == count && fits(group.ranks, count) &&
                       fits(group.names, count) && fits(group.pairs_moved, count) &&
                       fits(group.pairs_left, count);
  if (!columns) return "a column has another length than 'members'";
  std::set<ProcessId> seen(group.members.begin(), group.members.end());
  if (seen.size() != count) return "'members' names one twice";
  if (seen.contains(ProcessId{})) return "'members' must not have a zero";
  std::optional<std::uint32_t> last;
  for (const MemberNote& note : group.notes) {
    if (note.at >= count || (last && note.at <= *last))
      return "'notes.at' is out of order or range";
    last = note.at;
  }
  return "";
}

HeardStanding standing_at(const StandingGroup& group, std::size_t position) {
  HeardStanding heard{group.shared, group.described};
  Standing& standing = heard.standing;
  standing.member.process = group.members[position];
  standing.version = group.versions[position];
  if (!group.ranks.empty()) standing.rank = group.ranks[position];
  if (!group.names.empty()) standing.name = group.names[position];
  if (!group.pairs_moved.empty()) standing.report.pairs_moved = group.pairs_moved[position];
  if (!group.pairs_left.empty()) standing.report.pairs_left = group.pairs_left[position];
  const auto note =
      std::lower_bound(group.notes.begin(), group.notes.end(), position,
                       [](const MemberNote& each, std::size_t wanted) { return each.at < wanted; });
  if (note != group.notes.end() && note->at == position) {
    standing.report.pairs = note->pairs;
    standing.report.waiting = note->waiting;
  }
  return heard;
}

bool halve(NodeStanding& answer, NodeStanding& other) {
  other = {};
  other.asked = answer.asked;
  other.answered = answer.answered;
  if (answer.groups.size() > 1) {
    other.groups = cut_tail(answer.groups, answer.groups.size() / 2);
    return true;
  }
  if (answer.groups.empty() || answer.groups[0].members.size() < 2) return false;
  other.groups.push_back(cut_group(answer.groups[0], answer.groups[0].members.size() / 2));
  return true;
}

}  // namespace livebtl::control
