// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/hold_machine.cc -- see hold_machine.h.
#include "control/ladder/hold_machine.h"

#include <algorithm>
#include <utility>

#include "base/hex.h"

namespace livebtl::control {

using core::HoldState;

HoldMachine::HoldMachine(HoldCommand command, TimeNs now)
    : command_(std::move(command)),
      now_(now),
      answer_by_(now + command_.times.last_part()),
      deadline_(now + command_.times.total) {
  if (command_.verb == HoldVerb::kStart) deadline_ -= command_.times.last_part();
  outcome_.verb = verb_name(command_.verb);
}

std::vector<HoldMachine::Action> HoldMachine::step(const Event& event, TimeNs now) {
  now_ = now;
  actions_.clear();
  if (done()) return {};
  std::visit([this](const auto& known) { handle(known); }, event);
  for (Phase before = Phase::kDone; before != phase_;) {
    before = phase_;
    advance();
  }
  send_due();
  return std::exchange(actions_, {});
}

// -- events

void HoldMachine::handle(const MembersFound& found) {
  if (poll_.found(found, now_)) poll_.want_scan();  // the new ones may know of others
}

void HoldMachine::handle(const MemberGone& gone) { poll_.gone(gone); }

void HoldMachine::handle(const HoldAnswer& answer) {
  if (answer.number == 0 || answer.number > number_) return;  // to no question of ours
  Entry* const entry = poll_.take(answer);
  if (entry == nullptr) return;
  entry->backoff.answered(now_, command_.times.ask);
  entry->settled = wanted(answer);
}

// -- phases

void HoldMachine::advance() {
  switch (phase_) {
    case Phase::kFind:
      return advance_find();
    case Phase::kPark:
      return advance_park();
    case Phase::kSeal:
      return advance_seal();
    case Phase::kBack:
      return advance_back();
    case Phase::kClaim:
      return advance_claim();
    case Phase::kRaise:
      return advance_raise();
    case Phase::kEnd:
      return advance_end();
    case Phase::kDone:
      return;
  }
}

bool HoldMachine::all_settled() const {
  return std::all_of(poll_.entries().begin(), poll_.entries().end(),
                     [](const auto& item) { return item.second.settled; });
}

/// All have said how they stand.
void HoldMachine::go_on() {
  if (command_.verb == HoldVerb::kCheck) return conclude_check();
  if (command_.verb == HoldVerb::kRestored) return begin_restore();
  if (command_.dry_run) return conclude_dry_run();
  if (command_.verb == HoldVerb::kRenew) return begin_renewal();
  if (command_.verb == HoldVerb::kEnd && nobody_held()) return end_without_hold();
  if (command_.verb == HoldVerb::kStart) {
    if (!mixes_jobs()) enter(Phase::kPark);
    return;
  }
  begin_end(broken());
}

void HoldMachine::begin_end(std::string why_broken) {
  if (restore_begun())
    return end(ExitCode::kBusy,
               "a restore from this hold is at work or was left half done: `btlctl job restored` "
               "finishes it, and ends the hold");
  broken_ = std::move(why_broken);
  enter(Phase::kEnd);
}

void HoldMachine::advance_find() {
  const bool all = all_known() && !poll_.empty() && all_settled();
  const Missing missing = all ? poll_.missing() : Missing{};
  if (all && missing.count == 0) return go_on();
  // Members that can be let go do not wait for silent ones.
  const bool ends = command_.verb == HoldVerb::kEnd && !command_.dry_run;
  if (ends && !poll_.empty() && now_ >= std::min(answer_by_, deadline_)) {
    return begin_end("not all processes have answered");
  }
  if (now_ >= deadline_) {
    if (poll_.empty()) return end(ExitCode::kNotFound, "no member of the job answers");
    if (missing.count == 0)
      return end(ExitCode::kRetracted, "time-out; not all have answered, and nothing was changed");
    outcome_.missing_ranks = missing.ranks;
    return end(ExitCode::kMembersMissing, missing.text());
  }
  if (now_ >= rescan_at()) {
    poll_.want_scan();
    all_known();
  }
}

/// Renews only if the hold held all members without interruption: a member that was not held must
/// not be sealed in with the others now.
void HoldMachine::begin_renewal() {
  if (nobody_held()) return end_without_hold();
  const std::string why = broken();
  if (!why.empty()) return not_renewed(why);
  for (const HoldAnswer& answer : poll_.answers()) command_.id = answer.report.id;
  renewed_ = poll_.size();
  renewed_from_ = number_ + 1;
  enter(Phase::kSeal);
}

/// The answer of a member that has refused what this phase asks; nullptr: none has.
const HoldAnswer* HoldMachine::refusal() const {
  for (const auto& [member, entry] : poll_.entries()) {
    if (!entry.settled && entry.answer && !entry.answer->report.refusal.empty())
      return &*entry.answer;
  }
  return nullptr;
}

/// true: a member did: goes back, or ends a renewal.
bool HoldMachine::refused() {
  const HoldAnswer* const answer = refusal();
  if (answer == nullptr) return false;
  std::string why = answer->name + " refused: " + answer->report.refusal;
  if (command_.verb == HoldVerb::kRenew) {
    not_renewed(std::move(why));
  } else {
    back(ExitCode::kBusy, std::move(why));
  }
  return true;
}

void HoldMachine::advance_park() {
  if (refused()) return;
  const auto members = poll_.size();
  const auto parked = static_cast<std::uint32_t>(
      std::count_if(poll_.entries().begin(), poll_.entries().end(),
                    [](const auto& item) { return item.second.settled; }));
  if (parked != told_) actions_.emplace_back(HoldProgress{told_ = parked, members});
  if (poll_.empty()) return end(ExitCode::kNotFound, "every member of the job has left");
  if (parked == members && all_known()) return enter(Phase::kSeal);
  if (now_ >= deadline_) back(ExitCode::kRetracted, "time-out");
}

/// The seal renews each member's lease, or the member says that it has run out. A member that joins
/// or leaves meanwhile changes their number: then park and seal again.
void HoldMachine::advance_seal() {
  if (refused()) return;
  if (poll_.empty()) return end(ExitCode::kNotFound, "every member of the job has left");
  const bool renews = command_.verb == HoldVerb::kRenew;
  if (renews && poll_.size() != renewed_) return not_renewed("processes have come or gone");
  const bool same =
      std::all_of(poll_.entries().begin(), poll_.entries().end(), [this](const auto& item) {
        return !item.second.settled || item.second.answer->report.members == poll_.size();
      });
  if (!same) return enter(Phase::kPark);
  if (all_settled() && all_known() && renews) return end(ExitCode::kDone, "the lease begins anew");
  if (all_settled() && all_known()) {
    const std::string id = hex_id(command_.id);
    return end(ExitCode::kDone, "held: " + id +
                                    ", and nothing is on its way; after the last snapshot `btlctl "
                                    "hold check --id " +
                                    id + "`, then `btlctl hold end`");
  }
  if (now_ < deadline_) return;
  if (!renews) return back(ExitCode::kRetracted, "time-out");
  note_stragglers();
  end(ExitCode::kRetracted, "time-out; not all have confirmed that their lease begins anew");
}

void HoldMachine::enter(Phase phase) {
  phase_ = phase;
  poll_.want_scan();
  for (auto& [member, entry] : poll_.entries()) {
    entry.backoff.begin();
    entry.settled = false;
    if (entry.answer) entry.answer->report.refusal.clear();  // that was to another question
  }
}

}  // namespace livebtl::control
