// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/hold_machine.h -- the machine that holds a job for a snapshot: tells all to park,
// waits until they are, and asks afterwards whether they stayed parked throughout.
//
// Pure, like the coordinator of a switch (coordinator.h): no socket, no clock. It keeps nothing
// that the members do not know; if it is killed, `hold end` or the lease ends the hold that it
// leaves. Phases: find members and how they stand -> park -> seal (tell all how many they are, so
// that a missing member shows afterwards) -> done; or back, if not all can be parked; or end.
// docs/HOLD.md has the rules. For a restored job: find -> claim (so that no other command ends the
// hold for some members or raises them, and no lease runs out) -> raise (all to one incarnation) ->
// end.
#pragma once

#include <variant>
#include <vector>

#include "base/clock.h"
#include "control/ladder/coordinator.h"
#include "control/ladder/hold_types.h"
#include "control/ladder/outcome.h"
#include "control/ladder/poll.h"

namespace livebtl::control {

enum class HoldVerb : std::uint8_t { kStart, kRenew, kCheck, kEnd, kRestored };

/// As in Outcome::verb.
constexpr const char* verb_name(HoldVerb verb) noexcept {
  constexpr const char* kNames[] = {"hold start", "hold renew", "hold check", "hold end",
                                    "job restored"};
  return kNames[static_cast<std::size_t>(verb)];
}

struct HoldTimes {
  TimeNs total = 30 * kSecond;
  Backoff::Limits ask = {20 * kMillisecond, 100 * kMillisecond, kSecond};  // soon: not parked yet
  TimeNs rescan = 100 * kMillisecond;  // while members are missing
  /// kStart: the time reserved for telling all that nothing is held after all. kEnd: the time after
  /// which members that have answered are let go, even if others are silent. Part of `total`.
  TimeNs last_part() const noexcept { return std::min(total / 4, 10 * kSecond); }
};

struct HoldCommand {
  std::string job;
  HoldVerb verb = HoldVerb::kCheck;
  // kStart: random, not 0. Otherwise: the hold that is meant; 0: any.
  std::uint64_t id = 0;
  std::uint32_t lease_ms = 0;  // kStart, kRenew, kRestored
  std::uint32_t claimer = 0;   // kRestored: random: tells apart commands given at one moment
  // kRestored: raise to this one at least. Seconds since 1970 rise even if one set of snapshots is
  // restored a second time.
  Incarnation incarnation{};
  HoldTimes times = {};
  bool dry_run = false;                  // says what would be done
  std::vector<std::string> relays = {};  // kRestored: HoldRequest::relays
};

struct HoldSend {
  MemberId to;
  HoldRequest request;
};
/// For people who watch.
struct HoldProgress {
  std::uint32_t parked = 0;
  std::uint32_t members = 0;
};
using HoldEvent = std::variant<MembersFound, MemberGone, HoldAnswer, Tick>;
using HoldMachineAction = std::variant<Scan, HoldSend, HoldProgress>;

/// Told to park, and not yet to send again.
inline bool parks(const HoldAnswer& answer) {
  return answer.report.state == core::HoldState::kParking ||
         answer.report.state == core::HoldState::kParked;
}

class HoldMachine {
 public:
  using Event = HoldEvent;
  using Action = HoldMachineAction;

  HoldMachine(HoldCommand command, TimeNs now);

  std::vector<Action> step(const Event& event, TimeNs now);
  TimeNs wake_at() const noexcept;
  bool done() const noexcept { return phase_ == Phase::kDone; }
  /// Requires: done(). Its `operation` is the hold's id.
  const Outcome& outcome() const noexcept { return outcome_; }

 private:
  enum class Phase : std::uint8_t { kFind, kPark, kSeal, kBack, kClaim, kRaise, kEnd, kDone };
  struct Entry : Polled<HoldAnswer> {
    bool settled = false;  // it has given the answer that this phase waits for
  };

  void handle(const MembersFound& found);
  void handle(const MemberGone& gone);
  void handle(const HoldAnswer& answer);
  void handle(const Tick&) {}
  void advance();
  void advance_find();
  void go_on();
  void advance_park();
  void advance_seal();
  const HoldAnswer* refusal() const;
  bool refused();
  bool mixes_jobs();
  void advance_back();
  void begin_end(std::string why_broken);
  void advance_end();
  void advance_claim();
  void advance_raise();
  bool nobody_held() const;
  std::string without_hold() const;
  void end_without_hold();
  void begin_restore();
  bool raised_any() const;
  void choose_incarnation();
  Incarnation job_incarnation() const;
  std::uint64_t restored_hold() const;
  bool restored_already() const;
  std::uint64_t next_claim() const;
  void outdone_or(const HoldAnswer& answer, const char* text);
  bool restore_begun() const;
  bool raised(const HoldAnswer& answer) const;
  std::string misfit() const;
  void conclude_check();
  void begin_renewal();
  void not_renewed(std::string why);
  void conclude_dry_run();
  void enter(Phase phase);
  void back(ExitCode code, std::string text);
  void end(ExitCode code, std::string text);
  void note_stragglers();
  void send_due();
  HoldRequest request_for(const Entry& entry) const;
  bool wanted(const HoldAnswer& answer) const;
  bool all_settled() const;
  bool all_known() { return poll_.all_known(now_, actions_); }
  TimeNs rescan_at() const;
  std::string broken() const;
  std::string broken_up() const;

  HoldCommand command_;
  TimeNs now_;
  TimeNs answer_by_;
  TimeNs deadline_;
  Phase phase_ = Phase::kFind;
  Poll<Entry> poll_;
  std::uint64_t number_ = 0;  // of the last question
  std::string broken_;        // kEnd: why the job was not held throughout; "": it was
  ExitCode why_ = ExitCode::kDone;
  std::string why_text_;
  std::size_t renewed_ = 0;         // kRenew: how many are held
  std::uint64_t renewed_from_ = 0;  // ... and the first question that renews
  std::uint32_t told_ = 0;          // parked, in the last HoldProgress
  std::uint64_t claim_ = 0;         // kRestored: core::HoldClaim::number
  std::vector<Action> actions_;
  Outcome outcome_;
};

}  // namespace livebtl::control
