// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/ladder/held_job.h -- a job of members in one thread, as a HoldMachine's peer.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>

#include "control/ladder/hold_machine.h"

namespace livebtl::test {

using namespace livebtl::control;
using core::HoldState;

inline constexpr std::uint64_t kId = 0x51;

inline MemberId member(std::uint64_t number) { return {ProcessId{number}, Incarnation{1}}; }

/// Members that do at once what they are told, unless a test says otherwise.
class HeldJob {
 public:
  struct One {
    std::uint64_t id = 0;
    std::uint32_t members = 0;
    HoldState state = HoldState::kNone;
    Incarnation incarnation{};
    std::uint64_t restored_from = 0;
    bool claimed = false;
    std::uint64_t claim = 0;
    std::string refusal;
    std::string why;      // why it is broken, or fenced out
    int leases = 0;       // how often a lease began
    bool slow = false;    // begins to park, but is never parked
    bool silent = false;  // hears nothing
    bool hidden = false;  // no scan finds it
  };

  explicit HeldJob(std::uint64_t count, std::uint32_t expected = 0)
      : announced(expected == 0 ? static_cast<std::uint32_t>(count) : expected) {
    for (std::uint64_t i = 1; i <= count; ++i) members[i] = {};
  }

  Outcome run(HoldCommand command) {
    command.job = "job";
    HoldMachine machine(command, now);
    std::deque<HoldEvent> events{Tick{}};
    while (!machine.done()) {
      REQUIRE(++steps < 10'000);
      if (events.empty()) {
        now = std::max(now + 1, machine.wake_at());
        events.emplace_back(Tick{});
      }
      const auto actions = machine.step(events.front(), now);
      events.pop_front();
      for (const auto& action : actions) carry_out(action, events);
    }
    return machine.outcome();
  }

  std::map<std::uint64_t, One> members;
  std::vector<std::uint64_t> ended;  // found to have left by the next scan
  std::uint32_t announced;
  TimeNs now = 0;
  int steps = 0;
  std::vector<HoldProgress> progress;
  std::function<void()> on_scan;
  std::function<void()> on_send;  // before a member hears it
  TimeNs scan_takes = 0;          // no answers are heard meanwhile

 private:
  void carry_out(const HoldMachineAction& action, std::deque<HoldEvent>& events) {
    if (const auto* scan = std::get_if<Scan>(&action)) {
      if (on_scan) on_scan();
      MembersFound found{scan->number, {}};
      for (const auto& [number, one] : members) {
        if (!one.hidden) found.members.push_back(member(number));
      }
      now += scan_takes;
      events.emplace_front(found);
      for (const std::uint64_t number : std::exchange(ended, {}))
        events.emplace_front(MemberGone{member(number)});
    } else if (const auto* send = std::get_if<HoldSend>(&action)) {
      const auto number = static_cast<std::uint64_t>(send->to.process);
      const auto found = members.find(number);
      if (found == members.end() || found->second.silent) return;
      One& one = found->second;
      if (on_send) on_send();
      obey(one, send->request);
      events.emplace_back(answer_of(one, number, send->request));
    } else {
      progress.push_back(std::get<HoldProgress>(action));
    }
  }
  HoldAnswer answer_of(const One& one, std::uint64_t number, const HoldRequest& request) const {
    const std::uint64_t rank = number - 1;
    HoldAnswer answer{member(number),         "rank " + std::to_string(rank),
                      static_cast<int>(rank), announced,
                      request.number,         {}};
    answer.report.id = one.id;
    answer.report.state = one.state;
    answer.report.members = one.members;
    answer.report.incarnation = one.incarnation;
    answer.report.restored_from = one.restored_from;
    answer.report.claimed = one.claimed;
    answer.report.claim = one.claim;
    answer.report.why = one.why;
    if (request.action == HoldAction::kEnd && one.claimed && one.id == request.id)
      answer.report.refusal = "it is claimed";
    const bool raises =
        request.action == HoldAction::kClaim || request.action == HoldAction::kRestore;
    if (raises && one.id != request.id && one.restored_from != request.id)
      answer.report.refusal = "it is not held by that";
    if (raises && request.claim < one.claim) answer.report.refusal = "another has claimed it";
    const bool changes =
        request.action == HoldAction::kStart || request.action == HoldAction::kRestore;
    if (changes && !one.refusal.empty()) answer.report.refusal = one.refusal;
    return answer;
  }
  static void obey(One& one, const HoldRequest& request) {
    if (request.action == HoldAction::kStart && one.refusal.empty()) {
      one.id = request.id;
      one.state = one.slow ? HoldState::kParking : HoldState::kParked;
      if (request.members != 0) one.members = request.members;
      if (one.incarnation == Incarnation{}) one.incarnation = request.incarnation;
      ++one.leases;
    } else if (request.claim < one.claim) {
      return;
    } else if (request.action == HoldAction::kClaim) {
      if (one.id == request.id || one.restored_from == request.id) one.claim = request.claim;
      if (one.id == request.id && one.state == HoldState::kParked)
        one.claimed = one.restored_from != request.id;
    } else if (request.action == HoldAction::kRestore && one.refusal.empty()) {
      if (one.restored_from == request.id) return;
      one.claimed = false;
      one.incarnation = request.incarnation;
      one.restored_from = request.id;
      if (one.state == HoldState::kFenced) one.state = HoldState::kBroken;
    } else if (request.action == HoldAction::kEnd && one.id == request.id && !one.claimed) {
      one.id = 0;
      one.state = HoldState::kNone;
    }
  }
};

}  // namespace livebtl::test
