// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/coordinator_ladder.cc -- from the promises to the last rung: what is to be done, and how.
//
// Invariants: a rung is ordered only after all members acknowledged the one before it, or one rung
// back from the last order (retract_to_, once); kNew is the commit point, after which nothing goes
// down.
#include <algorithm>

#include "control/ladder/coordinator.h"

namespace livebtl::control {
namespace {

Rung above(Rung rung) noexcept { return static_cast<Rung>(static_cast<int>(rung) + 1); }
Rung below(Rung rung) noexcept { return static_cast<Rung>(static_cast<int>(rung) - 1); }

std::string title_of(const Operation& operation) {
  std::string text = operation.verb;
  for (const auto& argument : operation.arguments) text += " " + argument;
  return operation.node.empty() ? text : text + " --scope node:" + operation.node;
}

}  // namespace

// -- what is to be done

const Standing* CoordinatorMachine::unfinished() const {
  const Standing* newest = nullptr;
  for (const Standing& standing : roster_.answers()) {
    const bool newer = newest == nullptr || standing.epoch > newest->epoch;
    if (!at_rest(standing) && newer) newest = &standing;
  }
  return newest;
}

bool CoordinatorMachine::settle() { return takeover() ? settle_takeover() : settle_routing(); }

bool CoordinatorMachine::malformed_takeover() {
  const auto arguments = resolve_arguments(command_.verb, command_.arguments, {});
  if (!arguments) end(arguments.error().code, arguments.error().text);
  return !arguments;
}

bool CoordinatorMachine::settle_takeover() {
  if (malformed_takeover() || mixes_jobs()) return true;
  const Standing* open = unfinished();
  if (open != nullptr && !command_.dry_run) return false;
  outcome_.already = open == nullptr;
  end(ExitCode::kDone, open == nullptr
                           ? "no ladder is unfinished; nothing to " + command_.verb
                           : "would " + command_.verb + " '" + title_of(open->operation) +
                                 "', which was left at rung " + rung_name(open->rung) +
                                 (open->undoing ? ", going back" : "") + "; nothing was changed");
  return true;
}

bool CoordinatorMachine::settle_routing() {
  if (must_not_begin() || mixes_jobs()) return true;
  const auto failed = [this](const auto& result) {
    if (!result) end(result.error().code, result.error().text);
    return !result;
  };
  const Standing& first = *roster_.entries().begin()->second.answer;
  auto arguments = resolve_arguments(command_.verb, command_.arguments, roster_.known_transports());
  if (failed(arguments)) return true;
  outcome_.arguments = *arguments;
  auto node = resolve_scope(command_.scope, roster_.nodes());
  if (failed(node)) return true;
  node_ = std::move(*node);
  auto after = apply_verb(command_.verb, *arguments, first.routing, node_, roster_.known_names());
  if (failed(after)) return true;
  after_ = std::move(*after);
  // Even if the routing does not change, members may lack the transport asked for: a ladder makes
  // them look for it.
  const std::string wanted = wanted_by(command_.verb, *arguments);
  const bool looks = !wanted.empty() || is_return(command_.verb, *arguments);
  if (after_ != first.routing || (looks && !roster_.absent(node_, wanted).empty())) return false;
  end_already();
  return true;
}

/// Ends if another coordinator is at work or has left something unfinished, or if members disagree about the
/// routing in force.
bool CoordinatorMachine::must_not_begin() {
  const Standing& first = *roster_.entries().begin()->second.answer;
  for (const Standing& standing : roster_.answers()) {
    if (standing.busy && standing.term != term_ && standing.seq > 0) {
      end_busy(standing);
      return true;
    }
  }
  if (const Standing* open = unfinished()) {
    end(ExitCode::kBusy, "'" + title_of(open->operation) + "' was left unfinished at rung " +
                             rung_name(open->rung) +
                             "; `btlctl resume` finishes it, `btlctl abort` takes it back");
    return true;
  }
  for (const Standing& standing : roster_.answers()) {
    if (standing.routing == first.routing) continue;
    end(ExitCode::kRefused,
        "members disagree about the routing in force: " + first.name + " and " + standing.name +
            "; were they started with the same LIVEBTL_EXCLUDE and LIVEBTL_TRANSPORTS?");
    return true;
  }
  return false;
}

// -- the first order

void CoordinatorMachine::begin_ladder() {
  order_.job = command_.job;
  order_.by = command_.by.substr(0, kByBytesMax);
  order_.term = term_;
  phase_ = Phase::kRung;
  if (takeover()) return begin_takeover();
  Operation& operation = order_.operation;
  operation.id = command_.operation;
  operation.verb = command_.verb;
  operation.arguments = outcome_.arguments;
  operation.node = node_;
  operation.release = releases(command_.verb, operation.arguments);
  operation.before = roster_.entries().begin()->second.answer->routing;
  operation.after = after_;
  order_.epoch = roster_.highest_epoch() + 1;
  // All are at rest, at the new ladder's foot: its first order is the rung above.
  retract_to_ = Rung::kOld;
  order(Rung::kJoint, false);
}

void CoordinatorMachine::begin_takeover() {
  const Standing& open = *unfinished();
  order_.operation = open.operation;
  order_.epoch = open.epoch;
  Rung lowest = Rung::kNew, highest = Rung::kOld;
  bool undoing = false;
  for (const Standing& standing : roster_.answers()) {
    const Rung place = place_on(standing, order_.operation.id);
    lowest = std::min(lowest, place);
    highest = std::max(highest, place);
    undoing = undoing || (standing.operation.id == order_.operation.id && standing.undoing);
  }
  order_.rung = highest;
  const bool aborts = command_.verb == "abort";
  if (aborts && highest == Rung::kNew) return end_past_commit();
  if (undoing && highest < Rung::kNewTx) return order(lowest, true);
  if (highest == Rung::kOld) return order(highest, aborts);
  // The last order led up here, so all acknowledged the rung below: we may retract it, as the
  // coordinator that gave it could. If this rung cannot be reached, there is no other way off it.
  if (aborts) return order(below(highest), true);
  if (highest != Rung::kNew) retract_to_ = below(highest);
  order(highest, false);
}

/// What `abort` says when it comes too late.
void CoordinatorMachine::end_past_commit() {
  end(ExitCode::kNotReleased,
      "'" + title_of(order_.operation) +
          "' is past its commit point and cannot be taken back; `btlctl resume` finishes it, and a "
          "new command with the roles swapped goes back");
}

void CoordinatorMachine::order(Rung rung, bool undoing) {
  order_.rung = rung;
  order_.undoing = undoing;
  ++order_.seq;
  progress_ = 0;
  roster_.want_scan();
  rung_started_ = now_;
  rung_deadline_ = now_ + command_.times.rung;
  // The command's deadline limits the way up; the way back takes the time that it needs.
  if (!undoing) rung_deadline_ = std::min(rung_deadline_, deadline_);
  actions_.emplace_back(Progress{rung, undoing, 0, roster_.size()});
}

// -- rung by rung

void CoordinatorMachine::advance_rung() {
  std::uint32_t acknowledged_by = 0;
  for (const auto& [member, entry] : roster_.entries()) {
    acknowledged_by += answered(entry) ? 1U : 0U;
  }
  if (acknowledged_by != progress_) {
    progress_ = acknowledged_by;
    actions_.emplace_back(Progress{order_.rung, order_.undoing, acknowledged_by, roster_.size()});
  }
  if (roster_.all_acknowledged(order_) && all_known()) return next_rung();
  const Standing* refusal = roster_.refusal(order_);
  // After the commit point a refusal does not keep the others from finishing.
  const bool hopeless = refusal != nullptr && order_.rung != Rung::kNew && !order_.undoing;
  if (hopeless || now_ >= rung_deadline_) rung_failed(refusal);
}

void CoordinatorMachine::next_rung() {
  note_rung_time(true);
  if (order_.undoing) {
    if (order_.rung == Rung::kOld) return finish_undo();
    return order(below(order_.rung), true);
  }
  if (order_.rung == Rung::kNew) return finish_climb();
  if (now_ >= deadline_) {
    why_text_ = "time-out";
    return undo_from(order_.rung, ExitCode::kRetracted);
  }
  retract_to_ = order_.rung;
  order(above(order_.rung), false);
}

/// Goes down from a rung that all have acknowledged.
void CoordinatorMachine::undo_from(Rung rung, ExitCode why) {
  why_undoing_ = why;
  order(rung == Rung::kOld ? rung : below(rung), true);
}

void CoordinatorMachine::rung_failed(const Standing* refusal) {
  note_rung_time(false);
  if (refusal != nullptr && why_text_.empty()) {
    why_text_ = refusal->name + " refused: " + refusal->report.refusal;
    outcome_.pairs = refusal->report.pairs;
  }
  if (why_text_.empty()) why_text_ = "time-out";
  if (order_.rung == Rung::kNew) {
    return end(ExitCode::kNotReleased, title() +
                                           " is committed, but not every member has released; " +
                                           why_text_ + "; `btlctl resume` waits for them again");
  }
  if (order_.undoing || !retract_to_) {
    const ExitCode why = why_undoing_ != ExitCode::kDone ? why_undoing_
                         : refusal != nullptr            ? ExitCode::kRefused
                                                         : ExitCode::kRetracted;
    return end(why, why_text_ + "; stopped at rung " + rung_name(order_.rung) +
                        ", where the job can go on; `btlctl resume` goes on from there");
  }
  why_undoing_ = refusal != nullptr ? ExitCode::kRefused : ExitCode::kRetracted;
  // Note this rung's stragglers now: they may catch up while it is taken back. After a refusal, the
  // others had no time to acknowledge.
  if (refusal == nullptr) note_stragglers();
  const Rung target = *retract_to_;
  retract_to_.reset();
  order(target, true);
}

}  // namespace livebtl::control
