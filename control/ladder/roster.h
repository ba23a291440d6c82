// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/roster.h -- the members as the coordinator of a switch polls them: where each stands on the ladder.
//
// Pure data with queries; owned by one CoordinatorMachine.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/ladder/poll.h"
#include "control/ladder/scope.h"

namespace livebtl::control {

/// The last question to a member; a different one is due at once.
struct LadderQuestion {
  std::size_t kind = SIZE_MAX;  // position in Request
  Term term;
  std::uint64_t seq = 0;           // of an Order
  std::optional<bool> unfinished;  // of a LadderEnd
  friend bool operator==(const LadderQuestion&, const LadderQuestion&) = default;
};

struct RosterEntry : Polled<Standing> {
  std::optional<core::RoutingPlan> plan;
  LadderQuestion asked;
};

class Roster : public Poll<RosterEntry> {
 public:
  /// Answers that do not fit together because another's ladder ran from its foot to its top between
  /// them: forgets the older ones. false: there were none.
  bool forget_overtaken();

  /// All have answered and none is still joining.
  bool all_stand() const;
  bool all_promised(const Term& term) const;
  bool all_acknowledged(const Order& order) const;
  /// The transports of any member; processes of a job need not be alike.
  std::vector<KnownTransport> known_transports() const;
  /// Of those, the names.
  std::set<std::string> known_names() const;
  std::set<NodeLabel> nodes() const;
  /// The transports that members of that node (empty: of any) lack, and why; that transport alone, or all.
  std::vector<std::string> absent(const std::string& node, const std::string& transport = "") const;
  Term highest_term() const;
  std::uint32_t highest_epoch() const;
  const Standing* refusal(const Order& order) const;
};

bool promised(const Standing& standing, const Term& term) noexcept;
bool acknowledged(const Standing& standing, const Order& order) noexcept;
/// At rest: an operation is finished here, or has never begun.
bool at_rest(const Standing& standing) noexcept;
/// Where the member stands on the ladder of `operation`; a member at rest of another one stands at
/// its foot.
Rung place_on(const Standing& standing, std::uint64_t operation) noexcept;

}  // namespace livebtl::control
