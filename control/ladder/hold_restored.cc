// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/hold_restored.cc -- `job restored`: the hold machine's way from "all say that they were
// held together, and still are" to "all go on, as a new incarnation of the job".
//
// Processes that do not fit together are left as they are: parked, until their leases run out; then those
// whose streams do not fit lose each other, and say so.
#include <algorithm>
#include <set>

#include "base/hex.h"
#include "control/ladder/hold_machine.h"

namespace livebtl::control {

using core::HoldState;

/// The hold that is meant: as commanded, else that of a held member, else of the last restore.
std::uint64_t HoldMachine::restored_hold() const {
  if (command_.id != 0) return command_.id;
  std::uint64_t last = 0;
  for (const HoldAnswer& answer : poll_.answers()) {
    if (answer.report.id != 0) return answer.report.id;
    last = std::max(last, answer.report.restored_from);
  }
  return last;
}

bool HoldMachine::raised(const HoldAnswer& answer) const {
  return command_.id != 0 && answer.report.restored_from == command_.id;
}

bool HoldMachine::raised_any() const {
  return std::ranges::any_of(poll_.answers(),
                             [this](const HoldAnswer& answer) { return raised(answer); });
}

/// All are raised to one incarnation, or were spawned into it since, and nobody is held any more.
bool HoldMachine::restored_already() const {
  const Incarnation one = job_incarnation();
  std::size_t raised_to_it = 0;
  const bool fit = std::ranges::all_of(poll_.answers(), [&](const HoldAnswer& answer) {
    const core::HoldReport& report = answer.report;
    const bool of_it = report.incarnation == one;
    const bool spawned =
        report.restored_from == 0 && (of_it || report.incarnation == Incarnation{});
    if (raised(answer) && of_it) ++raised_to_it;
    return report.state == HoldState::kNone && (spawned || (of_it && raised(answer)));
  });
  return fit && raised_to_it > 0;
}

/// Why these processes are not one set; "": they are. If one of them is raised already, an earlier command
/// found the set complete and died before it raised the others: then a lease that ran out since does no harm.
std::string HoldMachine::misfit() const {
  if (!raised_any()) return broken();
  for (const HoldAnswer& answer : poll_.answers()) {
    const std::uint64_t id = answer.report.id;
    if (id != 0 && id != command_.id) return answer.name + " is held by another, " + hex_id(id);
    if (id == 0 && !raised(answer)) return answer.name + " was not held";
  }
  return "";
}

/// A member is claimed, or some go on as restored and others do not yet: if the others were let go
/// now, the restored ones would fence them out.
bool HoldMachine::restore_begun() const {
  std::set<std::uint64_t> restored;
  for (const HoldAnswer& answer : poll_.answers()) restored.insert(answer.report.restored_from);
  return std::ranges::any_of(poll_.answers(), [&](const HoldAnswer& answer) {
    const core::HoldReport& report = answer.report;
    return report.claimed ||
           (report.id != 0 && report.id != report.restored_from && restored.contains(report.id));
  });
}

/// One above all that are known, and at least the one commanded; or the one to which another
/// command has begun to raise members.
void HoldMachine::choose_incarnation() {
  Incarnation begun{};
  for (const HoldAnswer& answer : poll_.answers()) {
    const Incarnation own = answer.report.incarnation;
    const auto next = Incarnation{static_cast<std::uint32_t>(own) + 1};
    command_.incarnation = std::max(command_.incarnation, next);
    if (raised(answer)) begun = std::max(begun, own);
  }
  if (begun != Incarnation{}) command_.incarnation = begun;
}

void HoldMachine::begin_restore() {
  if (mixes_jobs()) return;
  command_.id = restored_hold();
  if (restored_already()) {
    outcome_.already = true;
    return end(ExitCode::kDone, "already so: all go on since they were restored");
  }
  if (nobody_held() && !raised_any()) return end_without_hold();
  if (const std::string why = misfit(); !why.empty()) {
    return end(
        ExitCode::kInconsistent,
        why +
            ": these processes were not snapshotted together, and are not continued; restore "
            "all machines from one set of snapshots");
  }
  choose_incarnation();
  const std::string raise = std::to_string(poll_.size()) + " processes to incarnation " +
                            std::to_string(static_cast<unsigned>(command_.incarnation));
  if (command_.dry_run)
    return end(ExitCode::kDone, "would raise " + raise +
                                    ", connect them anew and end the hold; nothing was changed");
  claim_ = next_claim();
  enter(Phase::kClaim);
}

/// Above all that are known. Two commands given at one moment, which know the same claims, differ
/// in the lower half.
std::uint64_t HoldMachine::next_claim() const {
  std::uint64_t highest = 0;
  for (const HoldAnswer& answer : poll_.answers()) highest = std::max(highest, answer.report.claim);
  return (((highest >> 32) + 1) << 32) | command_.claimer;
}

/// Ends: this member refuses because another command has claimed it, or for the reason that it
/// gives.
void HoldMachine::outdone_or(const HoldAnswer& answer, const char* text) {
  if (answer.report.claim > claim_)
    return end(ExitCode::kBusy, answer.name +
                                    ": another `job restored` has claimed it since, and goes on; "
                                    "if that one fails, call this again");
  end(ExitCode::kInconsistent, answer.name + text + answer.report.refusal);
}

/// The answers to the claims tell anew whether the members are one set, and to what others have
/// raised them: as all follow this claim now, nobody else can change that any more.
void HoldMachine::advance_claim() {
  if (const HoldAnswer* const answer = refusal()) return outdone_or(*answer, " is held no more: ");
  if (poll_.empty()) return end(ExitCode::kNotFound, "every member of the job has left");
  if (all_settled()) {
    if (const std::string why = misfit(); !why.empty())
      return end(ExitCode::kInconsistent,
                 why + ": they are one set no more, and this command has raised none");
    choose_incarnation();
    return enter(Phase::kRaise);
  }
  if (now_ < deadline_) return;
  note_stragglers();
  end(ExitCode::kRetracted, "time-out; nothing was changed, and all are still held");
}

void HoldMachine::advance_raise() {
  if (const HoldAnswer* const answer = refusal()) return outdone_or(*answer, " refused: ");
  if (poll_.empty()) return end(ExitCode::kNotFound, "every member of the job has left");
  if (all_settled()) return enter(Phase::kEnd);
  if (now_ < deadline_) return;
  note_stragglers();
  end(ExitCode::kNotReleased,
      "time-out; some are raised and held, others are not: call it again before their leases end");
}

}  // namespace livebtl::control
