// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/poll.h -- the members of a job, asked until each has answered: who is there, who is proved gone, what
// each answered last, when each is asked again, and whether all have been found.
//
// Pure; part of a machine (the coordinator of a switch or of a hold), and used by its thread. The
// machine decides what to ask and which answer will do. A member is removed only by gone(), which
// requires proof, and never comes back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/clock.h"
#include "control/ladder/ladder_types.h"
#include "control/ladder/membership.h"

namespace livebtl::control {

/// Look for members now, and answer with MembersFound. The scan must begin after this action is
/// issued.
struct Scan {
  std::uint64_t number = 0;
};
/// The answer to Scan: all members that can be found now. Absence from it proves nothing.
struct MembersFound {
  std::uint64_t scan = 0;  // Scan::number
  std::vector<MemberId> members;
};
/// Proof that a member has left: its lock is free, its pidfd is readable, or it said goodbye. May
/// name a member never seen.
struct MemberGone {
  MemberId member;
  int rank = -1;
};

/// When one member is asked again. Messages can be lost, so a silent member is asked again. But a
/// slow one would collect a queue of questions, which slow it further: it is asked as fast as it
/// answers.
class Backoff {
 public:
  /// soon: from an answer to the next question. least, most: from a question to its repetition.
  struct Limits {
    TimeNs soon, least, most;
  };

  /// A new question, due at once. What was learnt about the member's speed is kept.
  void begin() noexcept { asked_at_ = answered_at_ = INT64_MIN; }
  void asked(TimeNs now, const Limits& limits) noexcept {
    pause_ = waits() ? std::min(2 * pause_, limits.most) : std::max(pause_, limits.least);
    if (!waits()) first_asked_at_ = now;
    asked_at_ = now;
    answered_at_ = INT64_MIN;
  }
  void answered(TimeNs now, const Limits& limits) noexcept {
    if (waits()) pause_ = std::clamp(2 * (now - first_asked_at_), limits.least, limits.most);
    answered_at_ = now;
  }
  TimeNs due_at(const Limits& limits) const noexcept {
    if (asked_at_ == INT64_MIN) return INT64_MIN;
    return waits() ? asked_at_ + pause_ : answered_at_ + limits.soon;
  }
  /// INT64_MIN: not since begin().
  TimeNs asked_at() const noexcept { return asked_at_; }

 private:
  bool waits() const noexcept { return asked_at_ != INT64_MIN && answered_at_ == INT64_MIN; }

  TimeNs first_asked_at_ = INT64_MIN;  // since the last answer
  TimeNs asked_at_ = INT64_MIN, answered_at_ = INT64_MIN;
  TimeNs pause_ = 0;
};

/// What is known of one member; each machine derives its own entry type from this. Of two answers,
/// the one with the higher answer_number() is newer. An answer has `member`, `name`, `rank`,
/// `announced`.
template <class AnswerType>
struct Polled {
  using Answer = AnswerType;
  MemberId member;
  std::optional<Answer> answer;  // the newest; nullopt: it has not answered yet
  Backoff backoff;
};

/// Which scan for members is in progress, and when the next is due.
class Scans {
 public:
  /// Only a scan that begins from now on will do.
  void want() noexcept { wanted_ = true; }
  /// If a scan is wanted, begins it and returns its number.
  std::optional<std::uint64_t> begin(TimeNs now) noexcept {
    if (!wanted_) return std::nullopt;
    wanted_ = false;
    begun_at_ = now;
    return ++begun_;
  }
  void ended(std::uint64_t number, TimeNs now) noexcept {
    if (number <= ended_ || number > begun_) return;
    ended_ = number;
    ended_at_ = now;
  }
  bool wanted() const noexcept { return wanted_; }
  bool in_progress() const noexcept { return ended_ != begun_; }
  /// When the next scan is due while a member is missing. A scan may take long, and its caller
  /// receives nothing meanwhile: as much time is then left for the answers.
  TimeNs again_at(TimeNs pause) const noexcept {
    return ended_at_ + std::max(pause, ended_at_ - begun_at_);
  }

 private:
  bool wanted_ = true;
  std::uint64_t begun_ = 0, ended_ = 0;
  TimeNs begun_at_ = 0, ended_at_ = 0;
};

/// Entry: a Polled.
template <class Entry>
class Poll {
 public:
  using Answer = typename Entry::Answer;

  // -- members

  /// true: some were not known before.
  bool found(const MembersFound& found, TimeNs now) {
    scans_.ended(found.scan, now);
    bool news = false;
    for (const MemberId member : found.members) {
      if (gone_.contains(member)) continue;
      const auto [at, added] = entries_.try_emplace(member);
      at->second.member = member;
      news = news || added;
    }
    return news;
  }
  void gone(const MemberGone& gone) {
    const Entry* entry = find(gone.member);
    const int rank = entry != nullptr && entry->answer ? entry->answer->rank : -1;
    entries_.erase(gone.member);
    gone_.insert(gone.member);
    if (std::max(rank, gone.rank) >= 0) gone_ranks_.insert(std::max(rank, gone.rank));
  }
  /// Keeps the newer of two answers. nullptr: the member is unknown, or this answer is not newer.
  Entry* take(const Answer& answer) {
    Entry* entry = find(answer.member);
    if (entry == nullptr) return nullptr;
    if (entry->answer && answer_number(*entry->answer) >= answer_number(answer)) return nullptr;
    entry->answer = answer;
    return entry;
  }
  Entry* find(MemberId member) {
    const auto at = entries_.find(member);
    return at == entries_.end() ? nullptr : &at->second;
  }
  std::map<MemberId, Entry>& entries() noexcept { return entries_; }
  const std::map<MemberId, Entry>& entries() const noexcept { return entries_; }
  bool empty() const noexcept { return entries_.empty(); }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(entries_.size()); }
  /// How many are proved to have left.
  std::size_t left() const noexcept { return gone_.size(); }

  // -- answers

  /// The answers received so far, in member order.
  std::vector<std::reference_wrapper<const Answer>> answers() const {
    std::vector<std::reference_wrapper<const Answer>> list;
    for (const auto& [member, entry] : entries_) {
      if (entry.answer) list.emplace_back(*entry.answer);
    }
    return list;
  }
  /// All have answered, and the predicate holds for each.
  template <class Predicate>
  bool all_answered(Predicate predicate) const {
    return std::all_of(entries_.begin(), entries_.end(), [&](const auto& item) {
      return item.second.answer.has_value() && predicate(*item.second.answer);
    });
  }
  /// All members, with what they have answered, if anything.
  std::vector<Counted> counted() const {
    std::vector<Counted> list;
    for (const auto& [member, entry] : entries_) {
      list.emplace_back().answered = entry.answer.has_value();
      if (!entry.answer) continue;
      list.back() = {entry.answer->name, entry.answer->rank, entry.answer->announced};
    }
    return list;
  }
  Missing missing() const { return missing_members(counted(), gone_ranks_, gone_.size()); }

  // -- scans

  /// Only a scan that begins from now on shows that all are known.
  void want_scan() noexcept { scans_.want(); }
  /// No further member can be found. Asks for a scan first, if one is wanted.
  template <class Actions>
  bool all_known(TimeNs now, Actions& actions) {
    if (const auto number = scans_.begin(now)) actions.emplace_back(Scan{*number});
    return !scans_.in_progress();
  }
  const Scans& scans() const noexcept { return scans_; }
  /// A job that is still starting is scanned repeatedly.
  TimeNs rescan_at(TimeNs pause) const {
    if (scans_.in_progress()) return INT64_MAX;
    const bool incomplete = empty() || missing().count > 0;
    return incomplete ? scans_.again_at(pause) : INT64_MAX;
  }

 private:
  std::map<MemberId, Entry> entries_;
  std::set<MemberId> gone_;
  std::set<int> gone_ranks_;
  Scans scans_;
};

}  // namespace livebtl::control
