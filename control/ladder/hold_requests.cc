// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/hold_requests.cc -- the hold machine's questions: which question goes to which member in which
// phase, when it is repeated, and which answer will do.
#include <algorithm>

#include "control/ladder/hold_machine.h"

namespace livebtl::control {

using core::HoldState;

/// Has this member answered what the phase waits for?
bool HoldMachine::wanted(const HoldAnswer& answer) const {
  switch (phase_) {
    case Phase::kPark:
      return answer.report.state == HoldState::kParked && answer.report.id == command_.id;
    case Phase::kSeal:
      return answer.report.state == HoldState::kParked && answer.report.id == command_.id &&
             answer.report.members == poll_.size() &&
             (command_.verb != HoldVerb::kRenew ||
              (answer.number >= renewed_from_ && answer.report.refusal.empty()));
    case Phase::kClaim:
      return answer.report.claim == claim_ && answer.report.refusal.empty();
    case Phase::kRaise:
      return raised(answer) && answer.report.incarnation == command_.incarnation;
    case Phase::kBack:
    case Phase::kEnd:
      return !parks(answer) || (command_.id != 0 && answer.report.id != command_.id);
    default:
      return true;
  }
}

/// The highest that is known: a member without an incarnation takes it with the hold.
Incarnation HoldMachine::job_incarnation() const {
  Incarnation highest{1};
  for (const HoldAnswer& answer : poll_.answers())
    highest = std::max(highest, answer.report.incarnation);
  return highest;
}

HoldRequest HoldMachine::request_for(const Entry& entry) const {
  HoldRequest request{command_.job, HoldAction::kAsk, command_.id, 0, 0, number_, {}, claim_};
  if (phase_ == Phase::kPark || phase_ == Phase::kSeal) {
    request.action = HoldAction::kStart;
    request.lease_ms = command_.lease_ms;
    if (phase_ == Phase::kSeal) request.members = poll_.size();
  } else if (phase_ == Phase::kClaim) {
    request.action = HoldAction::kClaim;
    request.lease_ms = command_.lease_ms;
  } else if (phase_ == Phase::kRaise) {
    request.action = HoldAction::kRestore;
    request.incarnation = command_.incarnation;
    request.relays = command_.relays;
  } else if (phase_ == Phase::kBack || phase_ == Phase::kEnd) {
    request.action = HoldAction::kEnd;
    if (request.id == 0 && entry.answer) request.id = entry.answer->report.id;
    if (request.id == 0) request.action = HoldAction::kAsk;
  }
  if (request.action == HoldAction::kStart) request.incarnation = job_incarnation();
  return request;
}

void HoldMachine::send_due() {
  if (done()) return;
  for (auto& [member, entry] : poll_.entries()) {
    if (entry.settled || now_ < entry.backoff.due_at(command_.times.ask)) continue;
    entry.backoff.asked(now_, command_.times.ask);
    ++number_;
    actions_.emplace_back(HoldSend{member, request_for(entry)});
  }
}

TimeNs HoldMachine::rescan_at() const {
  return phase_ == Phase::kFind ? poll_.rescan_at(command_.times.rescan) : INT64_MAX;
}

TimeNs HoldMachine::wake_at() const noexcept {
  if (done()) return INT64_MAX;
  TimeNs wake = std::min(deadline_, rescan_at());
  for (const auto& [member, entry] : poll_.entries()) {
    if (!entry.settled) wake = std::min(wake, entry.backoff.due_at(command_.times.ask));
  }
  return std::max(wake, now_);
}

}  // namespace livebtl::control
