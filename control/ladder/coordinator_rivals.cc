// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/coordinator_rivals.cc -- other coordinators: which of them we give way to, and what we do once
// another one drives our ladder.
//
// That happens when an operator runs `resume` or `abort`, or when this process got no CPU for so
// long that the job took it for dead. It then gives no more orders and only watches: its caller
// wants to know the outcome, not which coordinator brought it about.
#include <algorithm>

#include "control/ladder/coordinator.h"

namespace livebtl::control {
namespace {
/// A takeover may be outbid by another one; of several, the one with the highest term wins.
constexpr int kRaisesMax = 3;
}  // namespace

/// Another coordinator has been here. The one with the higher term goes on; the other follows it,
/// ends as busy if it has ordered nothing, or, if the first is no longer alive, outbids it.
void CoordinatorMachine::meet_other_term(const Standing& standing) {
  const bool ordering = phase_ == Phase::kPromise || phase_ == Phase::kRung;
  if (!ordering || standing.joining) return;
  if (standing.term > term_) {
    const bool may_raise = phase_ == Phase::kPromise && (forces() || !standing.busy);
    if (may_raise && raises_ < kRaisesMax) return raise_term(standing.term.number);
    return phase_ == Phase::kRung ? follow(standing) : end_busy(standing);
  }
  // A rival that is still collecting promises gives way to us by itself; one that orders does not.
  const bool others_ladder = standing.term < term_ && standing.busy && standing.seq > 0;
  if (phase_ == Phase::kPromise && others_ladder && !forces()) end_busy(standing);
}

void CoordinatorMachine::raise_term(std::uint64_t above) {
  ++raises_;
  term_ = {above + 1, command_.coordinator};
  roster_.want_scan();
}

void CoordinatorMachine::end_busy(const Standing& standing) {
  end(ExitCode::kBusy,
      "another command is at work (" + standing.name +
          " follows it); try again when it has ended. If it was killed, the job ends it by itself "
          "after a while; `btlctl resume` or `btlctl abort` does at once");
}

/// A takeover that no operator ordered does not begin while another coordinator is at work.
bool CoordinatorMachine::gives_way() {
  if (!command_.by_itself) return false;
  for (const Standing& standing : roster_.answers()) {
    if (!standing.busy) continue;
    end_busy(standing);
    return true;
  }
  return false;
}

void CoordinatorMachine::follow(const Standing& standing) {
  if (command_.by_itself) return end_busy(standing);
  phase_ = Phase::kFollow;
  retract_to_.reset();
  // The members that had not followed our last order have other orders now.
  outcome_.stragglers.clear();
  outcome_.stragglers_total = 0;
}

/// Has the ladder ended for this member, as far as we can know? A member that still follows our own
/// term has not heard of the other coordinator yet.
bool CoordinatorMachine::settled(const Standing& standing) const {
  return standing.term > term_ && !standing.joining && !standing.busy && at_rest(standing);
}

void CoordinatorMachine::advance_follow() {
  bool all_settled = true, newer = false, begun = false;
  Rung lowest = Rung::kNew, highest = Rung::kOld;
  for (const auto& [member, entry] : roster_.entries()) {
    if (!entry.answer || !settled(*entry.answer)) {
      all_settled = false;
      continue;
    }
    const Standing& standing = *entry.answer;
    const bool ours = standing.operation.id == order_.operation.id;
    begun = begun || ours;
    // A coordinator that begins before anybody has followed us gives its ladder the epoch of ours.
    newer = newer || standing.epoch > order_.epoch || (standing.epoch == order_.epoch && !ours);
    const Rung place = place_on(standing, order_.operation.id);
    lowest = std::min(lowest, place);
    highest = std::max(highest, place);
  }
  if (all_settled && !newer && lowest == Rung::kNew) return finish_followed(true, begun);
  if (all_settled && !newer && highest == Rung::kOld) return finish_followed(false, begun);
  if (all_settled || now_ >= deadline_) {
    end(ExitCode::kBusy,
        "another coordinator has taken over; `btlctl status` shows where it stands");
  }
}

/// The job took us for dead before anybody had followed our first order, found nothing to finish,
/// and rests: our command is still to be done. Not so if an operator intervened, who may have
/// wanted us to stop.
bool CoordinatorMachine::begins_anew() {
  const Term rival = roster_.highest_term();
  const bool by_the_job = rival.coordinator % 2 == 0;
  if (takeover() || !by_the_job || raises_ >= kRaisesMax || now_ >= deadline_) return false;
  raise_term(rival.number);
  phase_ = Phase::kPromise;
  return true;
}

/// All are at rest, at the top of our ladder or at its foot, and nothing newer has been ordered.
void CoordinatorMachine::finish_followed(bool at_top, bool begun) {
  const bool aborts = command_.verb == "abort";
  // That is where all are, wherever our last order was meant to lead.
  order_.rung = at_top ? Rung::kNew : Rung::kOld;
  order_.undoing = !at_top;
  if (at_top) return aborts ? end_past_commit() : finish_climb();
  if (aborts) return finish_undo();
  if (!begun && begins_anew()) return;
  const char* const how = begun ? ": taken back by another coordinator; all stand where they were"
                                : ": another coordinator came before it had begun; nothing was "
                                  "changed";
  end(ExitCode::kRetracted, title() + how);
}

}  // namespace livebtl::control
