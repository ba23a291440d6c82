// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/coordinator.cc -- events, phases, and what is sent to which member when. The rungs are in
// coordinator_ladder.cc, other coordinators in coordinator_rivals.cc, the outcome in
// coordinator_outcome.cc.
#include "control/ladder/coordinator.h"

#include <type_traits>
#include <utility>

#include "base/assert.h"

namespace livebtl::control {
namespace {

template <class T, class... Others>
constexpr std::size_t position(const std::variant<Others...>*) noexcept {
  std::size_t at = 0;
  bool found = false;
  ((found = found || std::is_same_v<T, Others>, at += found ? 0 : 1), ...);
  return at;
}
template <class T>
constexpr std::size_t kKindOf = position<T>(static_cast<const Request*>(nullptr));

}  // namespace

CoordinatorMachine::CoordinatorMachine(Command command, TimeNs now)
    : command_(std::move(command)), now_(now), deadline_(now + command_.times.total) {
  outcome_.verb = command_.verb;
  outcome_.arguments = command_.arguments;
  outcome_.scope = command_.scope.empty() ? "job" : command_.scope;
}

std::vector<CoordinatorAction> CoordinatorMachine::step(const CoordinatorEvent& event, TimeNs now) {
  now_ = now;
  actions_.clear();
  if (done()) return {};
  std::visit([this](const auto& known) { handle(known); }, event);
  if (phase_ == Phase::kGoodbye) note_left_open();
  for (Phase before = Phase::kDone; before != phase_;) {
    before = phase_;
    advance();
  }
  send_due();
  if (phase_ == Phase::kGoodbye) advance_goodbye();
  return std::exchange(actions_, {});
}

// -- events

void CoordinatorMachine::handle(const MembersFound& found) {
  const bool news = roster_.found(found, now_);
  // A process that joins from a newcomer may stand on a rung that all others have left: scan again.
  const bool ordering = phase_ == Phase::kPromise || phase_ == Phase::kRung;
  if (news && ordering) roster_.want_scan();
}

void CoordinatorMachine::handle(const MemberGone& gone) {
  roster_.gone(gone);
  if (roster_.empty() && phase_ != Phase::kFind) {
    end(ExitCode::kNotFound, "every member of the job has left");
  }
}

void CoordinatorMachine::handle(const Standing& standing) {
  if (roster_.take(standing) != nullptr) meet_other_term(standing);
}

void CoordinatorMachine::handle(const Standings& standings) {
  for (const Standing& standing : standings.list) handle(standing);
}

void CoordinatorMachine::handle(const PlanAnswer& answer) {
  RosterEntry* entry = roster_.find(answer.member);
  if (phase_ == Phase::kPlan && entry != nullptr) entry->plan = answer.plan;
}

// -- phases

void CoordinatorMachine::advance() {
  switch (phase_) {
    case Phase::kFind:
      return advance_find();
    case Phase::kPlan:
      return advance_plan();
    case Phase::kPromise:
      return advance_promise();
    case Phase::kRung:
      return advance_rung();
    case Phase::kFollow:
      return advance_follow();
    case Phase::kGoodbye:
      return advance_goodbye();
    case Phase::kDone:
      return;
  }
}

void CoordinatorMachine::advance_find() {
  const bool looked = all_known();
  if (looked && roster_.empty() && roster_.left() > 0) {
    return end(ExitCode::kNotFound, "every member of the job has left");
  }
  // Only promises freeze the members; before, another's ladder may run between two answers.
  const bool all_said = looked && roster_.all_stand() && !roster_.empty();
  const bool fits = all_said && (takeover() || !roster_.forget_overtaken());
  if (fits && roster_.missing().count == 0) {
    // A takeover asks for promises first: an order of the dead coordinator may still be in flight,
    // and only promises keep it from beginning the very ladder that we would report as absent.
    const bool promises_first = takeover() && !command_.dry_run;
    if (gives_way() || (promises_first ? malformed_takeover() || mixes_jobs() : settle())) return;
    if (command_.dry_run) {
      phase_ = Phase::kPlan;
      return;
    }
    term_ = {roster_.highest_term().number + 1, command_.coordinator};
    roster_.want_scan();
    phase_ = Phase::kPromise;
    return;
  }
  if (now_ >= deadline_) {
    if (roster_.empty()) return end(ExitCode::kNotFound, "no member of the job answers");
    const Missing missing = roster_.missing();
    if (missing.count == 0) return end(ExitCode::kRetracted, "time-out; nothing was changed");
    outcome_.missing_ranks = missing.ranks;
    return end(ExitCode::kMembersMissing, missing.text());
  }
  if (now_ >= rescan_at()) {
    roster_.want_scan();
    all_known();
  }
}

TimeNs CoordinatorMachine::rescan_at() const {
  return phase_ == Phase::kFind ? roster_.rescan_at(command_.times.rescan) : INT64_MAX;
}

void CoordinatorMachine::advance_promise() {
  if (roster_.all_promised(term_) && all_known()) {
    if (!settle()) begin_ladder();
    return;
  }
  if (now_ >= deadline_) {
    for (const Standing& standing : roster_.answers()) {
      if (standing.busy && standing.term != term_) return end_busy(standing);
    }
    end(ExitCode::kRetracted, "time-out while asking for promises; nothing was changed");
  }
}

// -- sending

Request CoordinatorMachine::request_for(const RosterEntry& entry) const {
  switch (phase_) {
    case Phase::kPlan:
      return PlanRequest{command_.job, after_};
    case Phase::kPromise:
      return PromiseRequest{command_.job, term_, forces()};
    case Phase::kRung:
      if (entry.answer && promised(*entry.answer, term_)) return order_;
      return PromiseRequest{command_.job, term_, forces()};
    case Phase::kGoodbye:
      return LadderEnd{command_.job, term_, leaves_open_, end_seq_};
    case Phase::kFind:
    case Phase::kFollow:
    case Phase::kDone:
      break;
  }
  return StandingRequest{command_.job, releases(command_.verb, command_.arguments)};
}

bool CoordinatorMachine::heard_end(const Standing& standing) const noexcept {
  return !standing.busy && standing.left_open == leaves_open_;
}

/// Has it answered what it was asked in this phase?
bool CoordinatorMachine::answered(const RosterEntry& entry) const {
  if (phase_ == Phase::kPlan) return entry.plan.has_value();
  if (phase_ == Phase::kGoodbye && entry.asked.unfinished != leaves_open_) return false;
  if (!entry.answer) return false;
  const Standing& standing = *entry.answer;
  switch (phase_) {
    case Phase::kPromise:
      return promised(standing, term_);
    case Phase::kRung:
      return acknowledged(standing, order_);
    case Phase::kFollow:
      return settled(standing);
    case Phase::kGoodbye:
      return !standing.joining && (standing.term != term_ || heard_end(standing) || behind(entry));
    default:
      return !standing.joining;
  }
}

/// An order takes time, and its result comes unasked, so requests are repeated at a fixed interval.
Backoff::Limits CoordinatorMachine::steady() const noexcept {
  return {command_.times.resend, command_.times.resend, command_.times.resend};
}

TimeNs CoordinatorMachine::due_at(const RosterEntry& entry) const {
  const bool asks_once = phase_ == Phase::kFind || phase_ == Phase::kPlan;
  if (!answered(entry)) return entry.backoff.due_at(steady());
  return asks_once || phase_ == Phase::kGoodbye
             ? INT64_MAX
             : entry.backoff.asked_at() + command_.times.keepalive;
}

/// Identifies what request_for() would return, without building it: this runs for every member
/// whenever one answers.
LadderQuestion CoordinatorMachine::question_for(const RosterEntry& entry) const {
  LadderQuestion question{kKindOf<StandingRequest>, term_, 0, std::nullopt};
  const bool promises = phase_ == Phase::kPromise || phase_ == Phase::kRung;
  if (phase_ == Phase::kPlan) question.kind = kKindOf<PlanRequest>;
  if (promises) question.kind = kKindOf<PromiseRequest>;
  if (phase_ == Phase::kRung && entry.answer && promised(*entry.answer, term_)) {
    question.kind = kKindOf<Order>;
    question.seq = order_.seq;
  }
  if (phase_ == Phase::kGoodbye) {
    question.kind = kKindOf<LadderEnd>;
    question.unfinished = leaves_open_;
  }
  return question;
}

void CoordinatorMachine::send_due() {
  if (done()) return;
  for (auto& [member, entry] : roster_.entries()) {
    const LadderQuestion question = question_for(entry);
    if (entry.asked == question && now_ < due_at(entry)) continue;
    entry.asked = question;
    entry.backoff.asked(now_, steady());
    Request request = request_for(entry);
    LIVEBTL_ASSERT(request.index() == question.kind, "the question is that of the request");
    actions_.emplace_back(Send{member, std::move(request)});
  }
}

TimeNs CoordinatorMachine::wake_at() const noexcept {
  if (done()) return INT64_MAX;
  const bool has_rung_deadline = phase_ == Phase::kRung || phase_ == Phase::kGoodbye;
  TimeNs wake = has_rung_deadline ? rung_deadline_ : deadline_;
  wake = std::min(wake, rescan_at());
  for (const auto& [member, entry] : roster_.entries()) wake = std::min(wake, due_at(entry));
  return std::max(wake, now_);
}

}  // namespace livebtl::control
