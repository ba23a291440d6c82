// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/member.cc -- the member's side of the ladder.
#include "control/ladder/member.h"

#include <cstdlib>
#include <utility>

#include "control/ladder/commands.h"

namespace livebtl::control {
namespace {

int distance(Rung one, Rung other) noexcept {
  return std::abs(static_cast<int>(one) - static_cast<int>(other));
}

bool resting(Rung rung) noexcept { return rung == Rung::kOld || rung == Rung::kNew; }

}  // namespace

std::vector<MemberAction> MemberMachine::step(const MemberEvent& event, TimeNs now) {
  Actions actions;
  std::visit([&](const auto& known) { handle(known, now, actions); }, event);
  for (auto& action : actions) {
    std::visit(
        [&](auto& known) {
          if constexpr (requires { known.standing; }) known.standing.version = ++version_;
        },
        action);
  }
  return actions;
}

// -- joining

void MemberMachine::handle(const JoinAsFirst&, TimeNs, Actions&) { joined_ = true; }

void MemberMachine::handle(const JoinFrom& event, TimeNs now, Actions& actions) {
  const Standing& from = event.standing;
  if (joined_ || from.joining) return;
  joined_ = true;
  term_ = from.term;
  seq_ = from.seq;
  operation_ = from.operation;
  epoch_ = from.epoch;
  rung_ = rung_before_ = from.rung;
  undoing_ = from.undoing;
  ended_ = !from.busy;
  left_open_ = from.left_open;
  heard_ = now;
  // Before any operation, each member has the routing it was started with; a coordinator refuses to
  // begin while these differ.
  if (operation_.id == 0) return;
  reached_ = acknowledged_ = false;
  if (event.late) {
    actions.emplace_back(Submit{rung_order()});
  } else {
    actions.emplace_back(Adopt{rung_order()});
  }
}

// -- questions

void MemberMachine::handle(const StandingRequest& request, TimeNs now, Actions& actions) {
  if (request.job == facts_.job) answer(false, now, actions);
}

void MemberMachine::handle(const PromiseRequest& request, TimeNs now, Actions& actions) {
  if (request.job != facts_.job) return;
  if (!joined_ || request.term < term_) return answer(joined_, now, actions);
  if (request.term.number - term_.number > kTermStepMax) return answer(false, now, actions);
  if (request.term > term_) {
    // Another coordinator is at work: only one that takes over its ladder need not wait.
    if (!request.takeover && live(now)) return answer(true, now, actions);
    term_ = request.term;
    seq_ = 0;
    refused_seq_ = 0;
    objection_.clear();
    ended_ = false;
    end_seq_ = 0;
  }
  heard_ = now;
  answer(false, now, actions);
}

void MemberMachine::handle(const LadderEnd& end, TimeNs now, Actions& actions) {
  if (end.job != facts_.job) return;
  if (end.term == term_ && end.seq >= end_seq_) {
    end_seq_ = end.seq;
    left_open_ = end.unfinished;
    ended_ = true;
  }
  answer(end.term < term_, now, actions);
}

// -- orders

void MemberMachine::handle(const Order& order, TimeNs now, Actions& actions) {
  if (order.job != facts_.job) return;
  // An order of a term that was never promised here is not followed: its coordinator has to ask for
  // the promise first.
  if (!joined_ || order.term != term_) return answer(order.term < term_, now, actions);
  heard_ = now;
  if (order.seq <= seq_) return answer(order.seq < seq_, now, actions);
  if (std::string reason = objection(order); !reason.empty()) {
    refused_seq_ = order.seq;
    objection_ = std::move(reason);
    return answer(false, now, actions);
  }
  take(order, actions);
  answer(false, now, actions);
}

std::string MemberMachine::objection(const Order& order) const {
  if (order.operation.id == operation_.id) {
    if (distance(order.rung, rung_) > 1) {
      return "ordered to a rung two away from the one it stands on";
    }
    return order.operation == operation_ ? "" : "two operations have the same id";
  }
  if (!resting(rung_) || !reached_) return "an earlier operation is not finished here";
  if (distance(order.rung, Rung::kOld) > 1) return "an operation begins at its first rung";
  if (order.operation.before != committed_routing())
    return "it begins from a routing that is not in force";
  return "";
}

void MemberMachine::take(const Order& order, Actions& actions) {
  rung_before_ = rung_;
  if (order.operation.id != operation_.id) rung_before_ = Rung::kOld;
  operation_ = order.operation;
  epoch_ = order.epoch;
  seq_ = order.seq;
  rung_ = order.rung;
  undoing_ = order.undoing;
  reached_ = acknowledged_ = false;
  refused_seq_ = 0;
  objection_.clear();
  report_ = {};
  actions.emplace_back(Submit{rung_order()});
}

void MemberMachine::handle(const core::RungReport& report, TimeNs now, Actions& actions) {
  report_.absent = report.absent;  // whatever the operation
  report_.other_holders = report.other_holders;
  if (operation_.id == 0 || report.operation != operation_.id || report.rung != rung_) return;
  const bool reached = report.reached && report.refusal.empty();
  const bool refused = !report.refusal.empty() && refused_seq_ != seq_;
  const bool changed = reached != reached_ || refused;
  report_ = report;
  reached_ = reached;
  acknowledged_ = acknowledged_ || reached;
  if (refused) {
    // The member stays where it was, and says so until the next order. Once it has acknowledged a
    // rung, others may rely on that: a refusal then asks for a retraction, and is no step back.
    refused_seq_ = seq_;
    if (!acknowledged_) rung_ = rung_before_;
  }
  if (changed) actions.emplace_back(Notify{standing(now)});
}

// -- answers

void MemberMachine::answer(bool stale, TimeNs now, Actions& actions) {
  Answer answer{standing(now)};
  answer.standing.stale = stale;
  actions.emplace_back(std::move(answer));
}

Standing MemberMachine::standing(TimeNs now) const {
  Standing standing;
  static_cast<Described&>(standing) = facts_;
  standing.term = term_;
  standing.seq = seq_;
  standing.epoch = epoch_;
  standing.version = version_;
  standing.rung = rung_;
  standing.reached = reached_;
  standing.undoing = undoing_;
  standing.joining = !joined_;
  standing.busy = live(now);
  standing.left_open = !ended_ || left_open_;
  standing.refused_seq = refused_seq_;
  standing.operation = operation_;
  standing.report = report_;
  if (!objection_.empty()) standing.report.refusal = objection_;
  standing.routing = committed_routing();
  standing.transports = facts_.transports;
  standing.list_size = list_size_;
  return standing;
}

bool MemberMachine::unfinished() const noexcept {
  return joined_ && operation_.id != 0 && (!resting(rung_) || !reached_);
}

std::optional<TimeNs> MemberMachine::abandoned_since() const noexcept {
  const bool abandoned = joined_ && (unfinished() || !ended_ || left_open_);
  return abandoned ? std::optional<TimeNs>(heard_) : std::nullopt;
}

bool MemberMachine::live(TimeNs now) const noexcept {
  return !ended_ && now - heard_ < kCoordinatorLease;
}

const Routing& MemberMachine::committed_routing() const noexcept {
  if (operation_.id == 0) return facts_.routing;
  return rung_ == Rung::kNew ? operation_.after : operation_.before;
}

core::RungOrder MemberMachine::rung_order() const {
  core::RungOrder order{operation_.id, epoch_, rung_, operation_.before, operation_.after};
  const bool here = operation_.node.empty() || operation_.node == facts_.node;
  if (here) order.wanted = wanted_by(operation_.verb, operation_.arguments);
  // A switch moves the pairs that it can; an added transport has to be there.
  order.patient = operation_.verb == "switch" || is_return(operation_.verb, operation_.arguments);
  return order;
}

}  // namespace livebtl::control
