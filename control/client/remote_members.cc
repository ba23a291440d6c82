// SPDX-License-Identifier: BSD-3-Clause
// control/client/remote_members.cc -- see remote_members.h.
#include "control/client/remote_members.h"

#include <algorithm>
#include <set>
#include <utility>

#include "control/wire/route.h"

namespace livebtl::control {
namespace {

constexpr std::size_t kRelaysMax = 1024;
constexpr std::size_t kMembersMax = 65'536;  // of one node
// Per node and command. Its relay could name new ones in each round: any beyond this are ignored.
constexpr std::size_t kGoneMax = 16'384;
constexpr TimeNs kSilence = 10 * kSecond;

std::set<MemberId> ids_of(const std::vector<MemberEntry>& members) {
  std::set<MemberId> ids;
  for (const MemberEntry& member : members) ids.insert(member.member);
  return ids;
}

}  // namespace

void RemoteMembers::learn(const std::vector<std::string>& relays) {
  for (const std::string& relay : relays) {
    if (relays_.size() == kRelaysMax || !valid_relay(relay)) continue;
    const auto [entry, is_new] = relays_.try_emplace(relay);
    if (is_new) entry->second.awaited = entry->second.to_ask = true;
  }
}

void RemoteMembers::learn_named(const std::vector<std::string>& relays) {
  learn(relays);
  for (const std::string& relay : relays) {
    if (const auto known = relays_.find(relay); known != relays_.end()) known->second.named = true;
  }
}

void RemoteMembers::begin_round(TimeNs now) {
  ++round_;
  for (auto& [name, relay] : relays_) {
    relay.awaited = now >= relay.silent_until;
    relay.to_ask = true;
    relay.answered = false;
    relay.complete = true;
    relay.pages.clear();
  }
}

std::vector<RemoteMembers::Question> RemoteMembers::take_questions() {
  std::vector<Question> questions;
  for (auto& [name, relay] : relays_) {
    if (!std::exchange(relay.to_ask, false)) continue;
    const auto offset = static_cast<std::uint32_t>(relay.pages.size());
    questions.push_back({name, offset, std::to_string(round_) + " " + name});
  }
  return questions;
}

void RemoteMembers::ask_again() {
  for (auto& [name, relay] : relays_) relay.to_ask = !relay.answered;
}

void RemoteMembers::answer(std::string_view tag, const MembersAnswer& page) {
  const std::size_t space = std::min(tag.find(' '), tag.size());
  const auto found = relays_.find(std::string(tag.substr(std::min(space + 1, tag.size()))));
  if (found == relays_.end() || found->second.answered) return;
  Relay& known = found->second;
  known.merges = page.merges;
  if (tag.substr(0, space) != std::to_string(round_)) {
    known.silent_until = 0;
    learn_late(known, page);
    return;
  }
  if (page.offset != known.pages.size() || page.total > kMembersMax) return;  // of another round
  known.pages.insert(known.pages.end(), page.members.begin(), page.members.end());
  known.complete = known.complete && page.complete;
  known.silent_until = 0;
  if (known.pages.size() < page.total && !page.members.empty()) {
    known.to_ask = true;
  } else {
    settle(known);
  }
}

/// The members behind a relay that always answers late would never be known. So while none of them
/// is, a late answer counts if it is complete.
void RemoteMembers::learn_late(Relay& relay, const MembersAnswer& page) {
  if (!relay.live.empty() || page.offset != 0 || page.members.size() != page.total) return;
  for (const MemberEntry& member : page.members) {
    if (!member.gone && !relay.gone.contains(member.member)) relay.live.push_back(member);
  }
}

void RemoteMembers::note_gone(Relay& relay, const MemberEntry& member) {
  if (relay.gone.size() < kGoneMax) relay.gone.try_emplace(member.member, member);
}

/// All pages are here. A member that was listed before but is missing from a complete list has
/// left.
void RemoteMembers::settle(Relay& relay) {
  relay.answered = true;
  const std::vector<MemberEntry> before = std::exchange(relay.live, {});
  std::set<MemberId> live;
  for (MemberEntry& member : std::exchange(relay.pages, {})) {
    if (member.gone) {
      if (!member.left_behind) note_gone(relay, member);  // a copy's end is no process's
    } else if (live.insert(member.member).second) {
      relay.live.push_back(std::move(member));
    }
  }
  for (const MemberEntry& member : before) {
    if (live.contains(member.member) || relay.gone.contains(member.member)) continue;
    if (relay.complete) {
      note_gone(relay, member);
    } else if (relay.live.size() < kMembersMax) {
      relay.live.push_back(member);
    }
  }
}

bool RemoteMembers::round_complete() const {
  return std::all_of(relays_.begin(), relays_.end(), [](const auto& entry) {
    return entry.second.answered || !entry.second.awaited;
  });
}

void RemoteMembers::end_round(TimeNs now) {
  for (auto& [name, relay] : relays_) {
    if (relay.awaited && !relay.answered) relay.silent_until = now + kSilence;
  }
}

/// A copy on the node that was left, while another relay has the process itself.
bool RemoteMembers::is_outdone(const Relay& relay, const MemberEntry& member) const {
  const auto is_itself = [&](const MemberEntry& each) {
    return each.member == member.member && !each.left_behind;
  };
  return std::any_of(relays_.begin(), relays_.end(), [&](const auto& entry) {
    const Relay& other = entry.second;
    return &other != &relay && (member.left_behind || (other.named && !relay.named)) &&
           std::any_of(other.live.begin(), other.live.end(), is_itself);
  });
}

/// Which relay has each living process. Empty if nobody has gone: it is looked up only for them.
std::map<MemberId, const RemoteMembers::Relay*> RemoteMembers::homes() const {
  std::map<MemberId, const Relay*> homes;
  if (std::all_of(relays_.begin(), relays_.end(),
                  [](const auto& entry) { return entry.second.gone.empty(); }))
    return homes;
  for (const auto& [name, relay] : relays_) {
    for (const MemberEntry& member : relay.live) homes[member.member] = &relay;
  }
  return homes;
}

void RemoteMembers::add_to(std::vector<MemberEntry>& live, std::vector<MemberEntry>& gone) const {
  std::set<MemberId> known = ids_of(gone);
  const auto living = homes();
  for (const auto& [name, relay] : relays_) {
    for (const auto& [id, member] : relay.gone) {
      const auto home = living.find(id);  // at another relay: what ended here was a copy
      const bool ended = home == living.end() || home->second == &relay;
      if (ended && known.insert(id).second) gone.push_back(member);
    }
  }
  known.merge(ids_of(live));
  for (const auto& [name, relay] : relays_) {
    for (const auto& member : relay.live) {
      if (!is_outdone(relay, member) && known.insert(member.member).second) live.push_back(member);
    }
  }
}

const std::string* RemoteMembers::relay_of(ProcessId process) const {
  const std::string* silent = nullptr;
  for (const auto& [name, relay] : relays_) {
    for (const auto& member : relay.live) {
      if (member.member.process != process || is_outdone(relay, member)) continue;
      if (relay.silent_until == 0) return &name;
      silent = &name;
    }
  }
  return silent;
}

std::map<ProcessId, std::string> RemoteMembers::merging() const {
  std::map<ProcessId, std::string> relays;
  for (const bool silent : {true, false}) {  // those that answer win
    for (const auto& [name, relay] : relays_) {
      if (!relay.merges || (relay.silent_until != 0) != silent) continue;
      for (const auto& member : relay.live) {
        if (!is_outdone(relay, member)) relays[member.member.process] = name;
      }
    }
  }
  return relays;
}

std::vector<ProcessId> RemoteMembers::behind(const std::string& relay) const {
  std::vector<ProcessId> processes;
  const auto known = relays_.find(relay);
  if (known == relays_.end()) return processes;
  for (const auto& member : known->second.live) processes.push_back(member.member.process);
  return processes;
}

}  // namespace livebtl::control
