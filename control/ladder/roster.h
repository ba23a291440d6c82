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
  /// Another coordinator's ladder may run from foot to top between two answers, which then do not
  /// fit together: forgets the older ones. false: there were none.
  bool forget_overtaken();

  /// All have answered and none is still joining.
  bool all_stand() const;
  bool all_promised(const Term& term) const;
  bool all_acknowledged(const Order& order) const;
  /// All members' transports together; processes of a job need not have the same.
  std::vector<KnownTransport> known_transports() const;
  /// Their names.
  std::set<std::string> known_names() const;
  std::set<NodeLabel> nodes() const;
  /// The transports that members of `node` (empty: any) lack, and why; only `transport`, if given.
  std::vector<std::string> absent(const std::string& node, const std::string& transport = "") const;
  Term highest_term() const;
  std::uint32_t highest_epoch() const;
  const Standing* refusal(const Order& order) const;
};

bool promised(const Standing& standing, const Term& term) noexcept;
bool acknowledged(const Standing& standing, const Order& order) noexcept;
/// At rest: the operation is finished here, or none has ever begun.
bool at_rest(const Standing& standing) noexcept;
/// Where the member stands on the ladder of `operation`: at its foot, if its own last operation is
/// another.
Rung place_on(const Standing& standing, std::uint64_t operation) noexcept;

}  // namespace livebtl::control
