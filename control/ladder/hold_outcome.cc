// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/hold_outcome.cc -- how a command about a hold ends, and what it reports.
#include <set>

#include "base/hex.h"
#include "control/ladder/hold_machine.h"
#include "control/ladder/membership.h"

namespace livebtl::control {

using core::HoldState;

namespace {
constexpr std::size_t kReasonsMax = 3;  // named when a hold was broken
}  // namespace

/// Not all can be parked: those that are parked resume.
void HoldMachine::back(ExitCode code, std::string text) {
  why_ = code;
  why_text_ = std::move(text);
  if (code == ExitCode::kRetracted) note_stragglers();
  deadline_ = now_ + command_.times.last_part();
  enter(Phase::kBack);
}

void HoldMachine::advance_back() {
  const bool all = all_settled();
  if (!all && now_ < deadline_) return;
  end(why_,
      why_text_ +
          (all ? "; this hold holds nothing"
               : "; not all have confirmed that they send again; their leases will end the hold"));
}

void HoldMachine::advance_end() {
  if (poll_.empty()) return end(ExitCode::kNotFound, "every member of the job has left");
  if (all_settled() && command_.verb == HoldVerb::kRestored) {
    return end(ExitCode::kDone, "all go on as incarnation " +
                                    std::to_string(static_cast<unsigned>(command_.incarnation)) +
                                    " of the job; copies of before are fenced out");
  }
  if (all_settled()) {
    if (broken_.empty()) return end(ExitCode::kDone, "the hold has ended; it was never broken");
    return end(ExitCode::kInconsistent,
               "this hold is over; but " + broken_ +
                   ": snapshots taken meanwhile do not fit together and must not be restored");
  }
  if (const HoldAnswer* const answer = refusal())
    return end(ExitCode::kBusy, answer->name + " refused: " + answer->report.refusal);
  if (now_ < deadline_) return;
  note_stragglers();
  // A member that was raised stays raised: there is no way back.
  end(command_.verb == HoldVerb::kRestored ? ExitCode::kNotReleased : ExitCode::kRetracted,
      "time-out; not all have confirmed that they send again; their leases will end the hold");
}

/// All run, none is held, and no broken hold waits to be ended.
bool HoldMachine::nobody_held() const {
  return std::ranges::all_of(poll_.answers(), [](const HoldAnswer& answer) {
    return answer.report.state == HoldState::kNone && answer.report.id == 0;
  });
}

/// Members remember no hold that has ended: only its own `hold end` told what became of it.
std::string HoldMachine::without_hold() const {
  switch (command_.verb) {
    case HoldVerb::kEnd:
      return "there is nothing to end. Of a hold that ended before, its `hold end` said whether it "
             "was ever broken; if you have no answer of it, do not use the snapshots";
    case HoldVerb::kRestored:
      return "there is nothing to continue. It is for machines that were restored from snapshots "
             "taken between `btlctl hold start` and `hold end`: of others, snapshots do not fit "
             "together; restore all machines from one set of such snapshots";
    case HoldVerb::kRenew:
      return "there is no lease to renew; `btlctl hold start` begins a hold";
    default:
      return "snapshots taken now do not fit together and must not be restored; `btlctl hold "
             "start` begins a hold";
  }
}

void HoldMachine::end_without_hold() {
  end(ExitCode::kInconsistent, "no process is held, and the job runs; " + without_hold());
}

void HoldMachine::conclude_check() {
  if (nobody_held()) return end_without_hold();
  const std::string why = broken();
  if (why.empty()) {
    std::uint32_t left_ms = UINT32_MAX;
    for (const HoldAnswer& answer : poll_.answers())
      left_ms = std::min(left_ms, answer.report.left_ms);
    return end(ExitCode::kDone, "held without interruption by " +
                                    hex_id(poll_.entries().begin()->second.answer->report.id) +
                                    ", for " + std::to_string(left_ms / 1000) + " s more");
  }
  end(ExitCode::kInconsistent,
      why + ": snapshots taken meanwhile do not fit together and must not be restored");
}

void HoldMachine::not_renewed(std::string why) {
  end(ExitCode::kInconsistent, std::move(why) + "; the lease is what it was");
}

void HoldMachine::conclude_dry_run() {
  std::uint32_t held = 0;
  for (const HoldAnswer& answer : poll_.answers()) {
    const bool other =
        command_.verb != HoldVerb::kStart && command_.id != 0 && command_.id != answer.report.id;
    held += parks(answer) && !other ? 1 : 0;
  }
  const std::string all = " of " + std::to_string(poll_.size()) + " processes";
  if (command_.verb == HoldVerb::kRenew)
    return end(ExitCode::kDone, std::to_string(held) + all + " are held; nothing was changed");
  if (command_.verb == HoldVerb::kEnd)
    return end(ExitCode::kDone,
               "would let " + std::to_string(held) + all + " send on; nothing was changed");
  if (held == 0) return end(ExitCode::kDone, "would park all; nothing was changed");
  end(ExitCode::kBusy, "would be refused: " + std::to_string(held) + all +
                           " are held already; `btlctl hold end` ends that");
}

/// Members that sent again before the end, one for each reason: if the lease of one ran out, others
/// say that it has sent to them.
std::string HoldMachine::broken_up() const {
  std::set<std::string> reasons;
  std::string text;
  for (const HoldAnswer& answer : poll_.answers()) {
    const core::HoldReport& report = answer.report;
    if (report.state != HoldState::kBroken || reasons.size() == kReasonsMax ||
        !reasons.insert(report.why).second)
      continue;
    text += (text.empty() ? "" : "; ") + answer.name + " was not held throughout: " + report.why;
  }
  return text;
}

/// Why this is not one hold of all members, without interruption; "": it is.
std::string HoldMachine::broken() const {
  if (std::string sent_on = broken_up(); !sent_on.empty()) return sent_on;
  std::uint64_t id = command_.id;
  for (const HoldAnswer& answer : poll_.answers()) {
    if (answer.report.state == HoldState::kFenced) return answer.name + ": " + answer.report.why;
    if (answer.report.state == HoldState::kNone) return answer.name + " is not held";
    if (answer.report.state == HoldState::kParking)
      return answer.name + " still has frames on their way";
    if (answer.report.members == 0) return "not all were ever parked";
    if (answer.report.members != poll_.size()) {
      return answer.name + " was held as one of " + std::to_string(answer.report.members) +
             " processes, and now there are " + std::to_string(poll_.size());
    }
    if (id == 0) id = answer.report.id;
    if (answer.report.id != id)
      return answer.name + " is held by another, " + hex_id(answer.report.id);
  }
  return "";
}

void HoldMachine::end(ExitCode code, std::string text) {
  if (code == ExitCode::kRetracted && outcome_.stragglers.empty() && phase_ == Phase::kFind)
    note_stragglers();
  phase_ = Phase::kDone;
  outcome_.code = code;
  outcome_.text = outcome_.verb + ": " + std::move(text);
  outcome_.members = poll_.size();
  outcome_.operation = command_.id;
  for (const HoldAnswer& answer : poll_.answers()) {
    if (outcome_.operation == 0) outcome_.operation = answer.report.id;
  }
}

void HoldMachine::note_stragglers() {
  for (const auto& [member, entry] : poll_.entries()) {
    if (entry.settled) continue;
    ++outcome_.stragglers_total;
    if (outcome_.stragglers.size() == kNamesMax) continue;
    Straggler straggler;
    straggler.member = member;
    straggler.answered = entry.answer.has_value();
    if (entry.answer) {
      straggler.name = entry.answer->name;
      straggler.rank = entry.answer->rank;
      straggler.waiting = entry.answer->report.waiting;
    }
    outcome_.stragglers.push_back(std::move(straggler));
  }
}

/// Two jobs with one name would both be parked.
bool HoldMachine::mixes_jobs() {
  std::string why = several_jobs(command_.job, poll_.counted());
  if (why.empty()) return false;
  end(ExitCode::kRefused, std::move(why));
  return true;
}

}  // namespace livebtl::control
