// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/ladder/ladder_explorer.h -- visits every state that the production machines can reach
// within stated bounds.
//
// The network is a soup: every request that a coordinator ever made can be delivered at any time,
// any number of times, or never; its answer arrives or is lost. (A late answer differs from a
// prompt one only in when the coordinator acts, and what that then sends is in the soup, where it
// may be late.) Coordinators begin and time out at any step, and crash: a crashed one simply takes
// no further step. Engines refuse; a member has at most one frame in flight. Time does not pass
// except for a time-out. Checked in every state: members within one rung, no order that skips one,
// no frame sent on, or in flight on, a transport that its receiver has closed. From a sample: when
// faults stop, resume ends.
#pragma once

#include <algorithm>
#include <unordered_set>

#include "tests/sim/ladder/ladder_states.h"

namespace livebtl::control::explore {

class Explorer {
 public:
  explicit Explorer(Case which) : case_(std::move(which)) {}

  /// true: every state within the bounds was visited.
  bool run(std::size_t states_max) {
    State first;
    for (std::size_t i = 0; i < case_.members; ++i) {
      MemberMachine member(facts(i));
      member.step(JoinAsFirst{}, 0);
      first.members.emplace_back().set(std::move(member));
    }
    first.coordinators.resize(case_.commands.size());
    first.begun.resize(case_.commands.size());
    first.flights.resize(case_.members);
    first.timeouts = case_.timeouts;
    first.refusals = case_.refusals;
    visit(std::move(first));
    while (!open_.empty() && seen_.size() < states_max) {
      const State state = std::move(open_.back());
      open_.pop_back();
      expand(state);
    }
    return open_.empty();
  }

  std::size_t states() const { return seen_.size(); }
  std::size_t transitions() const { return transitions_; }
  std::size_t ends_checked() const { return ends_checked_; }
  bool all_new_reached() const { return all_new_reached_; }

 private:
  static MemberFacts facts(std::size_t index) {
    MemberFacts facts;
    facts.job = "j";
    facts.member = {ProcessId{index + 1}, Incarnation{}};
    facts.name = std::to_string(index);
    facts.transports = {{"a", ""}, {"b", ""}};
    return facts;
  }

  // -- the world

  bool is_open(const State& state, std::size_t member, bool on_new) const {
    const Rung rung = LadderProbe::rung(*state.members[member].machine);
    return on_new ? rung != Rung::kOld : rung != Rung::kNew;
  }
  bool sends_on_new(const State& state, std::size_t member) const {
    return LadderProbe::rung(*state.members[member].machine) >= Rung::kNewTx;
  }

  void feed_coordinator(State& state, std::size_t index, const CoordinatorEvent& event,
                        TimeNs now = 0) {
    if (!state.coordinators[index].machine) return;
    CoordinatorMachine machine = *state.coordinators[index].machine;
    std::vector<CoordinatorEvent> events = {event};
    for (std::size_t i = 0; i < events.size(); ++i) {
      const CoordinatorEvent current = events[i];
      for (const auto& action : machine.step(current, now)) {
        if (const auto* scan = std::get_if<Scan>(&action)) {
          MembersFound found{scan->number, {}};
          for (std::size_t m = 0; m < case_.members; ++m) found.members.push_back(facts(m).member);
          events.emplace_back(found);
        } else if (const auto* send = std::get_if<Send>(&action)) {
          const auto to = static_cast<std::size_t>(send->to.process) - 1;
          put_in_soup(state, index, to, send->request);
        }
      }
    }
    state.coordinators[index].set(std::move(machine));
  }

  static void put_in_soup(State& state, std::size_t coordinator, std::size_t member,
                          const Request& request) {
    Mail mail{coordinator, member, {}, 0, false, std::make_shared<const Request>(request), 0};
    mail.question = std::holds_alternative<StandingRequest>(request);
    if (const auto* promise = std::get_if<PromiseRequest>(&request)) mail.term = promise->term;
    if (const auto* end = std::get_if<LadderEnd>(&request)) mail.term = end->term;
    if (const auto* order = std::get_if<Order>(&request)) {
      mail.term = order->term;
      mail.seq = order->seq;
    }
    Digest out;
    for (const std::uint64_t word : {coordinator, member, request.index(), mail.seq}) out.add(word);
    out.add(mail.term);
    mail.digest = out.value();
    const bool known = std::any_of(state.soup.begin(), state.soup.end(),
                                   [&](const Mail& one) { return one.digest == mail.digest; });
    if (!known) state.soup.push_back(std::move(mail));
  }

  /// Removes mail from the soup that can no longer have an effect of its own: mail older than the
  /// member's (term, seq) only ever gets an answer, as does the newest mail of the same
  /// coordinator; and an answer to a coordinator that is gone has no effect.
  static void strain(State& state) {
    const auto spent = [&](const Mail& mail) {
      const auto& coordinator = state.coordinators[mail.coordinator].machine;
      const bool gone = !coordinator || LadderProbe::has_ended(*coordinator);
      if (mail.question) return gone || !LadderProbe::is_finding(*coordinator);
      const auto& now = state.members[mail.member];
      const bool is_end = std::holds_alternative<LadderEnd>(*mail.request);
      const bool old =
          mail.term < now.term || (mail.term == now.term && mail.seq < now.seq && !is_end);
      const bool newer_there =
          std::any_of(state.soup.begin(), state.soup.end(), [&](const Mail& one) {
            return one.coordinator == mail.coordinator && one.member == mail.member &&
                   !one.question &&
                   (one.term > mail.term || (one.term == mail.term && one.seq > mail.seq));
          });
      return old && (gone || newer_there);
    };
    std::vector<Mail> kept;
    for (const Mail& mail : state.soup) {
      if (!spent(mail)) kept.push_back(mail);
    }
    state.soup = std::move(kept);
  }

  /// deliver: whether the answer, or the notice, reaches the coordinator.
  void feed_member(State& state, std::size_t index, const MemberEvent& event,
                   std::size_t coordinator, bool deliver) {
    MemberMachine machine = *state.members[index].machine;
    const Rung from = LadderProbe::rung(machine);
    const std::uint64_t operation = LadderProbe::operation(machine);
    const auto actions = machine.step(event, 0);
    const Rung to = LadderProbe::rung(machine);
    const bool same = operation == LadderProbe::operation(machine);
    const int start = same ? static_cast<int>(from) : 0;
    if (std::abs(static_cast<int>(to) - start) > 1) throw Violation("a rung was skipped");
    state.members[index].set(std::move(machine));
    check_closed(state, index);
    for (const auto& action : actions) {
      const Standing* standing = nullptr;
      if (const auto* answer = std::get_if<Answer>(&action)) standing = &answer->standing;
      if (const auto* notice = std::get_if<Notify>(&action)) standing = &notice->standing;
      if (standing != nullptr && deliver) feed_coordinator(state, coordinator, *standing);
    }
  }

  void check_closed(const State& state, std::size_t index) const {
    for (const Flight& flight : state.flights) {
      if (flight.to == static_cast<int>(index) && !is_open(state, index, flight.on_new)) {
        throw Violation("a transport was closed with a frame in flight on it");
      }
    }
  }

  void check(const State& state) {
    const MemberMachine* newest = state.members[0].machine.get();
    for (const auto& one : state.members) {
      if (LadderProbe::epoch(*one.machine) > LadderProbe::epoch(*newest))
        newest = one.machine.get();
    }
    int lowest = 3, highest = 0;
    for (const auto& one : state.members) {
      const bool same = LadderProbe::operation(*one.machine) == LadderProbe::operation(*newest);
      const int rung = static_cast<int>(LadderProbe::rung(*one.machine));
      if (!same && rung != 0 && rung != 3) throw Violation("two operations at work at once");
      lowest = std::min(lowest, same ? rung : 0);
      highest = std::max(highest, same ? rung : 0);
    }
    if (highest - lowest > 1) throw Violation("members stand two rungs apart");
    all_new_reached_ = all_new_reached_ || lowest == 3;
  }

  // -- steps

  void visit(State state) {
    ++transitions_;
    strain(state);
    const std::uint64_t digest = state.digest();
    if (!seen_.insert(digest).second) return;
    check(state);
    if (digest % 61 == 0) check_end(state);
    open_.push_back(std::move(state));
  }

  void expand(const State& state) {
    for (std::size_t c = 0; c < state.coordinators.size(); ++c) expand_coordinator(state, c);
    for (const Mail& mail : state.soup) {
      for (const bool delivered : {false, true}) {
        if (delivered && !state.coordinators[mail.coordinator].machine) continue;
        if (!delivered && mail.question) continue;
        State next = state;
        std::visit(
            [&](const auto& request) {
              if constexpr (!std::is_same_v<std::decay_t<decltype(request)>, PlanRequest>) {
                feed_member(next, mail.member, request, mail.coordinator, delivered);
              }
            },
            *mail.request);
        const bool no_effect =
            next.members[mail.member].digest == state.members[mail.member].digest &&
            next.coordinators[mail.coordinator].digest ==
                state.coordinators[mail.coordinator].digest;
        if (!no_effect) visit(std::move(next));
      }
    }
    for (std::size_t i = 0; i < case_.members; ++i) expand_member(state, i);
  }

  void expand_coordinator(const State& state, std::size_t index) {
    if (!state.begun[index]) {
      State next = state;
      next.begun[index] = 1;
      begin(next, index);
      return visit(std::move(next));
    }
    if (!state.coordinators[index].machine) return;
    const CoordinatorMachine& machine = *state.coordinators[index].machine;
    if (state.timeouts > 0 && LadderProbe::on_a_rung(machine)) {
      State next = state;
      --next.timeouts;
      feed_coordinator(next, index, Tick{}, LadderProbe::rung_deadline(machine));
      visit(std::move(next));
    }
  }

  void begin(State& state, std::size_t index) {
    Command command;
    command.job = "j";
    command.verb = case_.commands[index].front();
    command.arguments.assign(case_.commands[index].begin() + 1, case_.commands[index].end());
    command.coordinator = command.operation = index + 1;
    command.times.rung = command.times.total = 1000 * kSecond;
    state.coordinators[index].set(CoordinatorMachine(command, 0));
    feed_coordinator(state, index, Tick{});
  }

  void expand_member(const State& state, std::size_t index) {
    const MemberMachine& machine = *state.members[index].machine;
    const Flight flight = state.flights[index];
    const bool drained = flight.to < 0 || flight.on_new == sends_on_new(state, index);
    const bool waits = !LadderProbe::reached(machine) && !LadderProbe::refused(machine);
    if (waits && drained) report(state, index, "");
    const bool opening = waits && LadderProbe::rung(machine) == Rung::kJoint;
    if (opening && state.refusals > 0) report(state, index, "no");
    if (index >= case_.senders) return;
    State next = state;
    if (flight.to < 0) {
      const std::size_t to = (index + 1) % case_.members;
      next.flights[index] = {static_cast<int>(to), sends_on_new(state, index)};
      if (!is_open(state, to, next.flights[index].on_new)) {
        throw Violation("a frame was sent to a transport that its receiver has not open");
      }
    } else {
      next.flights[index] = {};
    }
    visit(std::move(next));
  }

  void report(const State& state, std::size_t index, const char* refusal) {
    const Standing standing = state.members[index].machine->standing(0);
    core::RungReport report;
    report.operation = standing.operation.id;
    report.rung = standing.rung;
    report.refusal = refusal;
    report.reached = report.refusal.empty();
    const std::size_t owner = standing.term.coordinator - 1;
    for (const bool delivered : {false, true}) {
      State next = state;
      if (!report.reached) --next.refusals;
      feed_member(next, index, report, owner, delivered);
      visit(std::move(next));
    }
  }

  // -- when faults stop

  void check_end(State state) {
    ++ends_checked_;
    state.flights.assign(case_.members, {});
    state.soup.clear();
    for (auto& one : state.coordinators) one.machine.reset();
    state.coordinators.emplace_back();
    Command command;
    command.job = "j";
    command.verb = "resume";
    command.coordinator = command.operation = 1000;
    const std::size_t resume = state.coordinators.size() - 1;
    state.coordinators[resume].set(CoordinatorMachine(command, 0));
    feed_coordinator(state, resume, Tick{});
    for (int round = 0; round < 100; ++round) {
      if (LadderProbe::has_ended(*state.coordinators[resume].machine)) break;
      deliver_all(state, resume);
    }
    const CoordinatorMachine& machine = *state.coordinators[resume].machine;
    if (!LadderProbe::has_ended(machine)) throw Violation("resume did not end");
    for (const auto& member : state.members) {
      if (member.machine->unfinished()) throw Violation("resume left a member unfinished");
    }
  }

  void deliver_all(State& state, std::size_t coordinator) {
    const auto soup = state.soup;
    for (const Mail& mail : soup) {
      std::visit(
          [&](const auto& request) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(request)>, PlanRequest>) {
              feed_member(state, mail.member, request, coordinator, true);
            }
          },
          *mail.request);
      const MemberMachine& machine = *state.members[mail.member].machine;
      if (LadderProbe::reached(machine)) continue;
      core::RungReport report;
      report.operation = LadderProbe::operation(machine);
      report.rung = LadderProbe::rung(machine);
      feed_member(state, mail.member, report, coordinator, true);
    }
  }

  Case case_;
  std::vector<State> open_;
  std::unordered_set<std::uint64_t> seen_;
  std::size_t transitions_ = 0;
  std::size_t ends_checked_ = 0;
  bool all_new_reached_ = false;
};

}  // namespace livebtl::control::explore
