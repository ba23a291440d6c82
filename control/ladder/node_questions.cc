// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/node_questions.cc -- see node_questions.h.
#include "control/ladder/node_questions.h"

#include <algorithm>
#include <utility>

namespace livebtl::control {
namespace {

void copy_description(const Standing& from, Standing& to) {
  const MemberId member = to.member;
  static_cast<Described&>(to) = from;
  to.member = member;
  to.transports = from.transports;
}

/// The members, in lists of at most kGroupMax.
std::vector<std::vector<MemberId>> slices(const std::vector<MemberId>& members) {
  std::vector<std::vector<MemberId>> list;
  for (std::size_t first = 0; first < members.size(); first += kGroupMax) {
    const auto from = members.begin() + static_cast<std::ptrdiff_t>(first);
    const auto count = std::min(kGroupMax, members.size() - first);
    list.emplace_back(from, from + static_cast<std::ptrdiff_t>(count));
  }
  return list;
}

std::vector<ProcessId> processes_of(const std::vector<MemberId>& members) {
  std::vector<ProcessId> processes;
  processes.reserve(members.size());
  for (const MemberId& member : members) processes.push_back(member.process);
  return processes;
}

}  // namespace

// -- asking

std::vector<Question> NodeQuestions::put(const std::vector<Send>& sends, const RelayOf& relay_of,
                                         TimeNs now) {
  std::vector<Question> questions;
  for (const Batch& batch : batches(sends, relay_of, questions)) put(batch, now, questions);
  return questions;
}

std::vector<NodeQuestions::Batch> NodeQuestions::batches(const std::vector<Send>& sends,
                                                         const RelayOf& relay_of,
                                                         std::vector<Question>& questions) {
  std::vector<Batch> list;
  for (const Send& send : sends) {
    const std::string* relay = node_request(send.request) ? relay_of(send.to) : nullptr;
    if (relay == nullptr) {
      questions.emplace_back(send);
      continue;
    }
    // A machine asks at most two things at once.
    const auto same = [&](const Batch& batch) { return batch.request == send.request; };
    auto at = std::find_if(list.begin(), list.end(), same);
    if (at == list.end()) at = list.insert(list.end(), Batch{send.request, {}});
    at->by_relay[*relay].push_back(send.to);
  }
  return list;
}

void NodeQuestions::put(const Batch& batch, TimeNs now, std::vector<Question>& questions) {
  std::vector<std::string> together;
  const auto ask = [&](const std::vector<std::string>& relays) {
    questions.emplace_back(AskRelay{relays.front(), addressed(batch, relays)});
    unheard_since_.try_emplace(relays.front(), now);
  };
  const auto flush = [&] {
    if (!together.empty()) ask(std::exchange(together, {}));
  };
  for (const auto& [relay, members] : batch.by_relay) {
    const auto parts = slices(members);
    if (silent(relay, now) || parts.size() > 1) {
      for (const auto& part : parts) {
        const Batch alone{batch.request, {{relay, part}}};
        questions.emplace_back(AskRelay{relay, addressed(alone, {relay})});
      }
      unheard_since_.try_emplace(relay, now);
      continue;
    }
    together.push_back(relay);
    if (together.size() == kRelayFanOut) flush();
  }
  flush();
}

NodeRequest NodeQuestions::addressed(const Batch& batch, const std::vector<std::string>& relays) {
  NodeRequest request = *node_request(batch.request);
  for (const std::string& relay : relays) {
    const std::vector<MemberId>& members = batch.by_relay.at(relay);
    note_asked(relays.front(), members);
    for (const MemberId& member : members)
      request.described = request.described || !members_.at(member.process).described;
    if (relay == relays.front()) {
      request.members = processes_of(members);
    } else {
      request.onward.push_back({relay, processes_of(members)});
    }
  }
  return request;
}

void NodeQuestions::note_asked(const std::string& through, const std::vector<MemberId>& members) {
  for (const MemberId& id : members) {
    Member& member = members_[id.process];
    if (member.id != id) member = {id, {}, std::nullopt};  // another incarnation
    auto& relays = member.asked_by;
    if (std::find(relays.begin(), relays.end(), through) != relays.end()) continue;
    if (relays.size() == kRelaysOfMemberMax) relays.erase(relays.begin());
    relays.push_back(through);
  }
}

std::vector<AskRelay> NodeQuestions::apart(const AskRelay& question) {
  if (question.request.onward.empty()) return {};
  std::vector<AskRelay> list{question};
  list.front().request.onward.clear();
  for (const NodeShare& share : question.request.onward) {
    list.push_back({share.relay, list.front().request});
    list.back().request.members = share.members;
    std::vector<MemberId> members;
    for (const ProcessId process : share.members) members.push_back(members_.at(process).id);
    note_asked(share.relay, members);
  }
  return list;
}

std::vector<Send> NodeQuestions::each_by_itself(const AskRelay& question) const {
  std::vector<Send> sends;
  for (const ProcessId process : question.request.members) {
    const auto at = members_.find(process);
    if (at != members_.end()) sends.push_back({at->second.id, request_of(question.request)});
  }
  return sends;
}

// -- hearing

NodeQuestions::Heard NodeQuestions::hear(const std::string& relay, const NodeStanding& answer) {
  Heard heard;
  unheard_since_.erase(relay);
  const auto asked_through = [&](ProcessId process) -> Member* {
    const auto at = members_.find(process);
    if (at == members_.end()) return nullptr;
    const auto& relays = at->second.asked_by;
    const bool asked = std::find(relays.begin(), relays.end(), relay) != relays.end();
    return asked ? &at->second : nullptr;
  };
  for (const StandingGroup& group : answer.groups) {
    for (std::size_t i = 0; i < group.members.size(); ++i) {
      Member* member = asked_through(group.members[i]);
      if (member == nullptr || member->id.incarnation != group.shared.member.incarnation) continue;
      HeardStanding said = standing_at(group, i);
      if (describe(*member, said)) heard.standings.push_back(std::move(said.standing));
    }
  }
  for (const ProcessId process : answer.gone) {
    if (const Member* member = asked_through(process)) heard.gone.push_back(member->id);
  }
  return heard;
}

/// false: the standing lacks what never changes, and that has not been told yet. The next question
/// asks for it.
bool NodeQuestions::describe(Member& member, HeardStanding& heard) {
  if (heard.described) {
    if (!member.described) {
      member.described.emplace();
      copy_description(heard.standing, *member.described);
    }
    return true;
  }
  if (!member.described) return false;
  copy_description(*member.described, heard.standing);
  return true;
}

bool NodeQuestions::silent(const std::string& relay, TimeNs now) const {
  const auto at = unheard_since_.find(relay);
  return at != unheard_since_.end() && now - at->second >= kDoubtAfter;
}

}  // namespace livebtl::control
