// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/member.h -- a member's side of the ladder: which orders it takes, and what it answers.
//
// Pure: no socket, no clock; time is an argument. Driven by the agent's thread in the product and
// by the simulator. Rules (docs/SWITCH.md):
//  - follows only the highest term that it promised; takes an order only if its (term, seq) is newer,
//    and answers anything else with where it stands;
//  - moves by one rung at a time, and never without an order;
//  - a new operation begins only where the last one rests (kOld or kNew, reached) and from the routing
//    in force.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "control/ladder/ladder_types.h"

namespace livebtl::control {

/// A coordinator not heard from for this long is presumed dead: a new ladder may begin without
/// takeover.
inline constexpr TimeNs kCoordinatorLease = 3 * kSecond;

struct MemberFacts : Described {
  std::string job;
  Routing routing;  // before any operation
  std::vector<KnownTransport> transports;
};

/// No other process is there, or none has joined: this one starts with the job's initial standing.
struct JoinAsFirst {};
/// The standing of a member that has joined. Ask for it only once scans can find this process.
struct JoinFrom {
  Standing standing;
  bool late = false;  // the engine began with the job's first routing, and has to change over
};

/// RungReport: what admin.report() said after the last Submit was carried out.
using MemberEvent = std::variant<JoinAsFirst, JoinFrom, StandingRequest, PromiseRequest, Order,
                                 LadderEnd, core::RungReport>;

/// To the sender of the message that this step handled.
struct Answer {
  Standing standing;
};
/// To the coordinator of standing.term, unasked: something that it waits for has changed.
struct Notify {
  Standing standing;
};
/// admin.submit(), then feed admin.report() back.
struct Submit {
  core::RungOrder order;
};
/// admin.adopt(), then feed admin.report() back.
struct Adopt {
  core::RungOrder order;
};
using MemberAction = std::variant<Answer, Notify, Submit, Adopt>;

class MemberMachine {
 public:
  explicit MemberMachine(MemberFacts facts) : facts_(std::move(facts)) {}

  /// Actions are to be carried out in their order.
  std::vector<MemberAction> step(const MemberEvent& event, TimeNs now);

  Standing standing(TimeNs now) const;
  bool joined() const noexcept { return joined_; }
  /// The routing that is committed: Operation.before until kNew is ordered, then Operation.after. The
  /// engine sends by the new routing one rung earlier (core/switch/switching.h, in_force()). Valid until
  /// the next step.
  const Routing& committed_routing() const noexcept;
  /// A ladder is unfinished here.
  bool unfinished() const noexcept;
  /// Since when nothing has been heard from the coordinator that should finish a ladder begun here
  /// or, as far as this member knows, elsewhere; nullopt: there is nothing to finish.
  std::optional<TimeNs> abandoned_since() const noexcept;
  void set_list_size(std::uint32_t members) noexcept { list_size_ = members; }

 private:
  friend struct LadderProbe;  // tests/sim: what decides a machine's future, for exploration
  using Actions = std::vector<MemberAction>;
  void handle(const JoinAsFirst& event, TimeNs now, Actions& actions);
  void handle(const JoinFrom& event, TimeNs now, Actions& actions);
  void handle(const StandingRequest& request, TimeNs now, Actions& actions);
  void handle(const PromiseRequest& request, TimeNs now, Actions& actions);
  void handle(const Order& order, TimeNs now, Actions& actions);
  void handle(const LadderEnd& end, TimeNs now, Actions& actions);
  void handle(const core::RungReport& report, TimeNs now, Actions& actions);

  std::string objection(const Order& order) const;
  void take(const Order& order, Actions& actions);
  void answer(bool stale, TimeNs now, Actions& actions);
  bool live(TimeNs now) const noexcept;
  core::RungOrder rung_order() const;

  MemberFacts facts_;
  bool joined_ = false;
  Term term_;
  std::uint64_t seq_ = 0;
  TimeNs heard_ = 0;           // when a coordinator of term_ was last heard
  bool ended_ = true;          // it has said that it ended
  bool left_open_ = false;     // ... and left something unfinished somewhere
  std::uint64_t end_seq_ = 0;  // of its latest LadderEnd
  Operation operation_;
  std::uint32_t epoch_ = 0;
  Rung rung_ = Rung::kOld;
  Rung rung_before_ = Rung::kOld;  // where it stays if the engine refuses
  bool reached_ = true;
  bool acknowledged_ = true;  // reached at some time since the last order
  bool undoing_ = false;
  std::uint64_t refused_seq_ = 0;
  std::string objection_;  // ours, to an order that the engine never saw
  core::RungReport report_;
  std::uint32_t list_size_ = 1;
  std::uint64_t version_ = 0;
};

}  // namespace livebtl::control
