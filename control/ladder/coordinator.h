// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/coordinator.h -- the machine that drives a switch: asks, orders, waits, retracts, and reports the
// outcome.
//
// Pure: no socket, no clock; time is an argument. Driven by btlctl in the product and by the
// simulator. Keeps no state that the members do not have: if it is killed at any point, the next
// one finishes its work (resume) or undoes it (abort). Phases: find members -> (dry run: ask for
// plans) -> promises from all -> rung by rung, each ordered only after all have acknowledged the
// one before -> goodbye -> done. docs/SWITCH.md has the rules.
#pragma once

#include <algorithm>
#include <optional>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "control/ladder/commands.h"
#include "control/ladder/outcome.h"
#include "control/ladder/roster.h"

namespace livebtl::control {

struct CoordinatorTimes {
  TimeNs total = 30 * kSecond;
  TimeNs rung = 10 * kSecond;             // a third of the total, if that is longer
  TimeNs rescan = 100 * kMillisecond;     // while members are still missing
  TimeNs resend = 100 * kMillisecond;     // to members that have not answered
  TimeNs keepalive = 500 * kMillisecond;  // to all others, so that they know we are alive
  TimeNs goodbye = kSecond;               // at most, for the answers to our LadderEnd
};

/// The times of a command that may take `total` in all.
constexpr CoordinatorTimes times_within(TimeNs total) noexcept {
  CoordinatorTimes times;
  times.rung = std::max(std::min(times.rung, total), total / 3);
  times.total = total;
  return times;
}

struct Command {
  std::string job;
  std::string verb;  // add | quiesce | remove | switch | set | resume | abort
  std::vector<std::string> arguments;
  std::string scope;  // "" or "job", or "node:NAME" as given: by its id or its host
  std::string by;     // Order::by
  bool dry_run = false;
  // a resume that nobody asked for: gives way to a coordinator at work, instead of taking over
  bool by_itself = false;
  std::uint64_t coordinator = 0;  // random, not 0
  std::uint64_t operation = 0;    // random, not 0: the id of the ladder, if one begins
  CoordinatorTimes times;
};

/// Time has passed; nothing else happened.
struct Tick {};
/// What a relay reports of several members at once: each standing counts as if it had come alone.
struct Standings {
  std::vector<Standing> list;
};
using CoordinatorEvent =
    std::variant<MembersFound, MemberGone, Standing, Standings, PlanAnswer, Tick>;

using Request = std::variant<StandingRequest, PromiseRequest, Order, LadderEnd, PlanRequest>;
struct Send {
  MemberId to;
  Request request;
};
/// For people who watch.
struct Progress {
  Rung rung = Rung::kOld;
  bool undoing = false;
  std::uint32_t acknowledged = 0;
  std::uint32_t members = 0;
};
using CoordinatorAction = std::variant<Scan, Send, Progress>;

class CoordinatorMachine {
 public:
  using Event = CoordinatorEvent;
  using Action = CoordinatorAction;

  CoordinatorMachine(Command command, TimeNs now);

  /// First call: step(Tick{}, now). Later: whenever something arrives, and at wake_at().
  std::vector<CoordinatorAction> step(const CoordinatorEvent& event, TimeNs now);
  TimeNs wake_at() const noexcept;
  bool done() const noexcept { return phase_ == Phase::kDone; }
  /// Requires: done().
  const Outcome& outcome() const noexcept { return outcome_; }

 private:
  friend struct LadderProbe;  // tests/sim: what decides a machine's future, for exploration
  enum class Phase : std::uint8_t { kFind, kPlan, kPromise, kRung, kFollow, kGoodbye, kDone };

  // coordinator.cc: events, phases, and what is sent to which member when.
  void handle(const MembersFound& found);
  void handle(const MemberGone& gone);
  void handle(const Standing& standing);
  void handle(const Standings& standings);
  void handle(const PlanAnswer& answer);
  void handle(const Tick&) {}
  void advance();  // does what can be done now in this phase
  void advance_find();
  void advance_promise();
  void advance_goodbye();
  bool all_known() { return roster_.all_known(now_, actions_); }
  void send_due();
  Request request_for(const RosterEntry& entry) const;
  LadderQuestion question_for(const RosterEntry& entry) const;
  Backoff::Limits steady() const noexcept;
  bool answered(const RosterEntry& entry) const;
  bool heard_end(const Standing& standing) const noexcept;
  TimeNs due_at(const RosterEntry& entry) const;
  TimeNs rescan_at() const;

  // coordinator_ladder.cc: what is to be done, and the rungs.
  bool settle();  // ends at once if there is nothing to do, or if it must not be done
  bool malformed_takeover();
  bool settle_takeover();
  bool settle_routing();
  bool must_not_begin();
  bool mixes_jobs();  // coordinator_outcome.cc
  void begin_ladder();
  void begin_takeover();
  void advance_rung();
  void order(Rung rung, bool undoing);
  void next_rung();
  void rung_failed(const Standing* refusal);
  void undo_from(Rung rung, ExitCode why);
  const Standing* unfinished() const;  // of the newest unfinished operation; nullptr: none
  bool leaves_open() const;            // the next coordinator may have something to finish
  void note_left_open();               // kGoodbye

  // coordinator_rivals.cc: other coordinators.
  void meet_other_term(const Standing& standing);
  void raise_term(std::uint64_t above);
  void end_busy(const Standing& standing);
  bool gives_way();
  void follow(const Standing& standing);
  void advance_follow();
  void finish_followed(bool at_top, bool begun);
  bool begins_anew();
  bool settled(const Standing& standing) const;

  // coordinator_outcome.cc: the outcome.
  void advance_plan();
  void end(ExitCode code, std::string text);
  void end_past_commit();
  void end_already();
  void finish_climb();
  void note_foreign(const std::vector<std::string>& transports);
  std::string host_of(const std::string& node) const;
  std::string but_not_on(const Routing& after, const std::string& node) const;
  void finish_undo();
  void note_rung_time(bool complete);
  void note_pairs();
  void note_cut_off(const std::string& name, const std::string& peer);
  void note_stragglers();
  bool behind(const RosterEntry& entry) const;
  std::string title() const;  // "switch sm tcp"

  bool takeover() const noexcept { return command_.verb == "resume" || command_.verb == "abort"; }
  /// May it take the job from a living coordinator?
  bool forces() const noexcept { return takeover() && !command_.by_itself; }

  Command command_;
  TimeNs now_;
  TimeNs deadline_;           // of the whole command
  TimeNs rung_deadline_ = 0;  // of the rung, or of the goodbye
  TimeNs rung_started_ = 0;
  std::vector<CoordinatorAction> actions_;
  Phase phase_ = Phase::kFind;
  Roster roster_;
  Term term_;
  int raises_ = 0;
  std::string node_;            // id of the scope's node; "": the job
  Routing after_;               // what the verb makes of the routing in force
  Order order_;                 // kRung: the current one
  bool leaves_open_ = false;    // kGoodbye: what the members are told
  std::uint64_t end_seq_ = 1;   // ... LadderEnd::seq: rises when that changes
  std::uint32_t progress_ = 0;  // kRung: acknowledgements last reported
  std::optional<Rung>
      retract_to_;  // kRung: may be ordered without the current order's acknowledgements
  ExitCode why_undoing_ = ExitCode::kDone;
  std::string why_text_;
  Outcome outcome_;
};

}  // namespace livebtl::control
