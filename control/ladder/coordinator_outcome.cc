// SPDX-License-Identifier: BSD-3-Clause
// control/ladder/coordinator_outcome.cc -- how a command ends, and what it reports.
#include <algorithm>

#include "base/transport_name.h"
#include "control/ladder/coordinator.h"

namespace livebtl::control {
namespace {

/// Do the scope's own rules take the transport away?
bool takes_away(const Routing& routing, const std::string& node, const std::string& transport) {
  const auto found = routing.nodes.find(node);
  if (!node.empty() && found == routing.nodes.end()) return false;
  const core::Rules& rules = node.empty() ? routing : found->second;
  return core::covers(rules.excluded, transport) || core::covers(rules.set_aside, transport);
}

}  // namespace

std::string CoordinatorMachine::title() const {
  std::string text = outcome_.verb;
  for (const auto& argument : outcome_.arguments) text += " " + argument;
  return outcome_.scope == "job" ? text : text + " --scope " + outcome_.scope;
}

void CoordinatorMachine::end(ExitCode code, std::string text) {
  if (phase_ >= Phase::kGoodbye) return;
  outcome_.code = code;
  outcome_.text = std::move(text);
  outcome_.members = roster_.size();
  outcome_.rung = order_.rung;
  outcome_.operation = order_.operation.id;
  outcome_.epoch = order_.epoch;
  note_pairs();
  const bool all_did = code == ExitCode::kDone || code == ExitCode::kForeign;
  if (!all_did && code != ExitCode::kBusy) note_stragglers();
  const bool promised_us = phase_ == Phase::kPromise || phase_ == Phase::kRung;
  phase_ = promised_us ? Phase::kGoodbye : Phase::kDone;
  leaves_open_ = leaves_open();
  rung_deadline_ = now_ + command_.times.goodbye;
  roster_.want_scan();
}

// -- goodbye

// A member at rest may still receive, and follow, an order of ours that it has not answered.
bool CoordinatorMachine::leaves_open() const {
  return !roster_.all_answered([this](const Standing& standing) {
    const bool behind =
        standing.term == term_ && standing.seq < order_.seq && standing.refused_seq != order_.seq;
    return at_rest(standing) && !behind;
  });
}

/// Until a scan has ended, members proved gone may have been replaced by others that are not at rest.
void CoordinatorMachine::note_left_open() {
  const bool looking = roster_.scans().in_progress();
  const bool open = leaves_open() || (leaves_open_ && looking);
  if (open != leaves_open_) ++end_seq_;
  leaves_open_ = open;
}

void CoordinatorMachine::advance_goodbye() {
  bool all_know = true;
  for (const auto& [member, entry] : roster_.entries()) all_know = all_know && answered(entry);
  // A process that joined after our last scan may have learnt from a member that we are at work,
  // and would keep the next command waiting, or stand on a rung that all others have left. From now
  // on none can do so: one more scan finds them all, and members that were told that nothing is
  // left open are told otherwise if need be.
  const bool looked = all_known();
  if ((all_know && looked) || now_ >= rung_deadline_) phase_ = Phase::kDone;
}

// -- what is said

/// Two jobs that go by one name would both carry out an order.
bool CoordinatorMachine::mixes_jobs() {
  std::string why = several_jobs(command_.job, roster_.counted());
  if (why.empty()) return false;
  end(ExitCode::kRefused, std::move(why));
  return true;
}

/// Dry run: what the members say would happen is the outcome.
void CoordinatorMachine::advance_plan() {
  const auto planned = [](const auto& each) { return each.second.plan.has_value(); };
  if (!std::ranges::all_of(roster_.entries(), planned)) {
    if (now_ >= deadline_) end(ExitCode::kRetracted, "time-out; nothing was changed");
    return;
  }
  const Routing& before = roster_.entries().begin()->second.answer->routing;
  for (const std::string& name : roster_.known_names()) {
    const bool now = takes_away(before, node_, name), then = takes_away(after_, node_, name);
    if (now != then) (now ? outcome_.opens : outcome_.closes).push_back(name);
  }
  bool cut_off = false, changes = !outcome_.opens.empty() || !outcome_.closes.empty();
  for (const auto& [member, entry] : roster_.entries()) {
    cut_off = cut_off || !entry.plan->cut_off.empty();
    changes = changes || !entry.plan->moves.empty();
    for (const auto& peer : entry.plan->cut_off) note_cut_off(entry.answer->name, peer);
    outcome_.plans.push_back({entry.answer->name, *entry.plan});
  }
  if (cut_off)
    return end(ExitCode::kRefused, title() + " would be refused: it would cut off peers");
  const char* would = changes ? " would change what is shown" : " would move no pair";
  end(ExitCode::kDone, title() + would + "; nothing was changed");
}

/// Both ends report a pair; it is listed once. An engine's name for a peer ends in the peer's id.
void CoordinatorMachine::note_cut_off(const std::string& name, const std::string& peer) {
  const std::string other = peer.substr(0, peer.rfind(" ("));
  const std::string pair = std::min(name, other) + " - " + std::max(name, other);
  auto& pairs = outcome_.pairs;
  const bool noted = std::find(pairs.begin(), pairs.end(), pair) != pairs.end();
  if (!noted && pairs.size() < kNamesMax) pairs.push_back(pair);
}

void CoordinatorMachine::finish_climb() {
  const Operation& operation = order_.operation;
  outcome_.verb = operation.verb;
  outcome_.arguments = operation.arguments;
  if (takeover()) outcome_.scope = operation.node.empty() ? "job" : "node:" + operation.node;
  note_foreign(operation.arguments);
  outcome_.released = operation.release;
  if (operation.release && !outcome_.other_holders.empty()) {
    return end(ExitCode::kForeign,
               title() +
                   ": released by this job, but held by somebody else; do not detach; end or "
                   "restart the holders named, then repeat this, which looks again");
  }
  const bool returns = is_return(operation.verb, operation.arguments);
  if (returns) outcome_.absent = roster_.absent(node_);
  const char* done = operation.release                     ? ": released"
                     : returns && !outcome_.absent.empty() ? ": returning in the background"
                                                           : ": done";
  end(ExitCode::kDone, title() + done + but_not_on(operation.after, operation.node));
}

/// No ladder is run. The members have checked who holds devices that they do not have open.
void CoordinatorMachine::end_already() {
  outcome_.already = true;
  outcome_.released = releases(command_.verb, outcome_.arguments);
  if (outcome_.released) note_foreign(outcome_.arguments);
  if (outcome_.other_holders.empty())
    return end(ExitCode::kDone, title() + ": already so" + but_not_on(after_, node_));
  end(ExitCode::kForeign, title() +
                              ": already so, but held by somebody else; do not detach; end or "
                              "restart the holders named, then repeat this, which looks again");
}

/// Notes the holders of these transports only, on the scope's node only.
void CoordinatorMachine::note_foreign(const std::vector<std::string>& transports) {
  for (const Standing& standing : roster_.answers()) {
    if (!node_.empty() && standing.node != node_) continue;
    for (const std::string& holder : standing.report.other_holders) {
      const bool asked = std::ranges::any_of(transports, [&](const std::string& name) {
        // As core::holders_of() writes it.
        return is_meant_by(std::string_view(holder).substr(0, holder.find(": ")), name);
      });
      if (asked) outcome_.other_holders.push_back(standing.name + ": " + holder);
    }
  }
}

/// " (node17)"; "" if no member on it has answered.
std::string CoordinatorMachine::host_of(const std::string& node) const {
  for (const Standing& standing : roster_.answers())
    if (standing.node == node && !standing.host.empty()) return " (" + standing.host + ")";
  return "";
}

/// The nodes that a command for the whole job leaves alone: a command of their own rules there.
std::string CoordinatorMachine::but_not_on(const Routing& after, const std::string& node) const {
  const bool returns = is_return(outcome_.verb, outcome_.arguments);
  if (!node.empty() && returns && !after.set_aside.empty())
    return "; still set aside for the whole job, which `btlctl checkpoint return` ends";
  if (!node.empty()) return "";
  std::string text;
  for (const auto& [ruled, rules] : after.nodes) {
    if (!rules_otherwise(rules, outcome_.verb, outcome_.arguments)) continue;
    text += (text.empty() ? "; not on node:" : ", node:") + ruled + host_of(ruled);
  }
  return text.empty() ? text : text + " (a command with that --scope has ruled otherwise)";
}

void CoordinatorMachine::finish_undo() {
  if (why_undoing_ == ExitCode::kDone)
    return end(ExitCode::kDone, "taken back; all stand where they were");
  end(why_undoing_, why_text_ + "; taken back, all stand where they were");
}

void CoordinatorMachine::note_rung_time(bool complete) {
  const double milliseconds = static_cast<double>(now_ - rung_started_) / 1e6;
  outcome_.rungs.push_back({order_.rung, order_.undoing, complete, milliseconds});
}

/// Each pair is counted by both of its ends.
void CoordinatorMachine::note_pairs() {
  std::uint64_t moved = 0, left = 0;
  for (const Standing& standing : roster_.answers()) {
    const bool climbed = phase_ == Phase::kRung || phase_ == Phase::kFollow;
    const core::RungReport& report = standing.report;
    if (!climbed || order_.undoing || report.operation != order_.operation.id) continue;
    moved += report.pairs_moved;
    left += report.pairs_left;
    for (const auto& pair : report.pairs) {
      if (outcome_.pairs.size() < kNamesMax && standing.refused_seq == 0) {
        outcome_.pairs.push_back(standing.name + " - " + pair);
      }
    }
  }
  outcome_.pairs_moved = static_cast<std::uint32_t>((moved + 1) / 2);
  outcome_.pairs_left = static_cast<std::uint32_t>((left + 1) / 2);
}

/// Does this member still owe an answer in the phase that is ending?
bool CoordinatorMachine::behind(const RosterEntry& entry) const {
  if (phase_ != Phase::kGoodbye) return !answered(entry);
  if (entry.answer && acknowledged(*entry.answer, order_)) return false;  // it has caught up
  return std::any_of(outcome_.stragglers.begin(), outcome_.stragglers.end(),
                     [&](const Straggler& one) { return one.member == entry.member; });
}

void CoordinatorMachine::note_stragglers() {
  for (const auto& [member, entry] : roster_.entries()) {
    const bool noted =
        std::any_of(outcome_.stragglers.begin(), outcome_.stragglers.end(),
                    [&here = entry](const Straggler& one) { return one.member == here.member; });
    if (noted || !behind(entry)) continue;
    ++outcome_.stragglers_total;
    if (outcome_.stragglers.size() == kNamesMax) continue;
    Straggler straggler;
    straggler.member = member;
    if (entry.answer) {
      straggler.name = entry.answer->name;
      straggler.rank = entry.answer->rank;
      straggler.rung = place_on(*entry.answer, order_.operation.id);
      // Answered: the promise if nothing has been ordered yet, else the last order.
      const bool took_or_refused =
          entry.answer->seq == order_.seq || entry.answer->refused_seq == order_.seq;
      straggler.answered =
          phase_ == Phase::kRung && promised(*entry.answer, term_) && took_or_refused;
      if (straggler.answered) straggler.waiting = entry.answer->report.waiting;
    }
    outcome_.stragglers.push_back(std::move(straggler));
  }
}

}  // namespace livebtl::control
