// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/roster.h -- the members as a coordinator knows them: who is there, where each stands, who
// is missing.
//
// Pure data with queries; owned by one CoordinatorMachine. A member leaves only by remove(), which
// needs proof.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "control/ladder/census.h"
#include "control/ladder/outcome.h"
#include "control/ladder/scope.h"

namespace livebtl::control {

struct RosterEntry {
  MemberId member;
  std::optional<Standing> standing;  // the newest; nullopt: it has not answered yet
  std::optional<core::RoutingPlan> plan;
  // What was sent last, and when; a request of another kind or number is due at once.
  std::size_t sent_kind = SIZE_MAX;
  Term sent_term;
  std::uint64_t sent_seq = 0;
  TimeNs sent_at = 0;
  std::optional<bool> told_open;  // what the last LadderEnd said of it; unset: none was sent last
};

class Roster {
 public:
  /// true: it was not known.
  bool add(MemberId member);
  void remove(MemberId member, int rank);
  /// Keeps the newer of two standings. nullptr: not a member that we know, or older than what we
  /// have.
  RosterEntry* update(const Standing& standing);
  RosterEntry* find(MemberId member);

  /// Answers that do not fit together because another's ladder ran from its foot to its top between
  /// them: forgets the older ones. false: there were none.
  bool forget_overtaken();

  std::map<MemberId, RosterEntry>& entries() noexcept { return entries_; }
  const std::map<MemberId, RosterEntry>& entries() const noexcept { return entries_; }
  bool empty() const noexcept { return entries_.empty(); }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(entries_.size()); }
  /// How many are proved to have left.
  std::size_t left() const noexcept { return gone_.size(); }

  /// All have answered and none is still joining.
  bool all_stand() const;
  bool all_promised(const Term& term) const;
  bool all_acknowledged(const Order& order) const;
  /// As far as they have answered.
  std::vector<Counted> counted() const;
  Missing missing() const;
  /// What any member has; processes of a job need not be alike.
  std::vector<KnownTransport> known_transports() const;
  std::set<NodeLabel> nodes() const;
  /// What members of that node (empty: of any) do without, and why; of that transport alone, or
  /// all.
  std::vector<std::string> absent(const std::string& node, const std::string& transport = "") const;
  Term highest_term() const;
  std::uint32_t highest_epoch() const;
  const Standing* refusal(const Order& order) const;

 private:
  std::map<MemberId, RosterEntry> entries_;
  std::set<MemberId> gone_;
  std::set<int> gone_ranks_;
};

bool promised(const Standing& standing, const Term& term) noexcept;
bool acknowledged(const Standing& standing, const Order& order) noexcept;
/// At rest: an operation is finished here, or has never begun.
bool at_rest(const Standing& standing) noexcept;
/// Where the member stands on the ladder of `operation`; a member at rest of another one stands at
/// its foot.
Rung place_on(const Standing& standing, std::uint64_t operation) noexcept;

}  // namespace livebtl::control
