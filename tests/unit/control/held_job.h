// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/held_job.h -- a job of members in one thread that a HoldMachine talks to.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>

#include "control/hold_machine.h"

namespace livebtl::test {

using namespace livebtl::control;
using core::HoldState;

inline constexpr std::uint64_t kId = 0x51;

inline MemberId member(std::uint64_t number) { return {ProcessId{number}, Incarnation{1}}; }

/// Members that do at once what they are told, unless a test has it otherwise.
class HeldJob {
 public:
  struct One {
    std::uint64_t id = 0;
    std::uint32_t members = 0;
    HoldState state = HoldState::kNone;
    std::string refusal;
    int leases = 0;       // begun
    bool slow = false;    // parks, and is never parked
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
  std::uint32_t announced;
  TimeNs now = 0;
  int steps = 0;
  std::vector<HoldProgress> progress;
  std::function<void()> on_scan;

 private:
  void carry_out(const HoldMachineAction& action, std::deque<HoldEvent>& events) {
    if (const auto* scan = std::get_if<Scan>(&action)) {
      if (on_scan) on_scan();
      MembersFound found{scan->number, {}};
      for (const auto& [number, one] : members) {
        if (!one.hidden) found.members.push_back(member(number));
      }
      events.emplace_back(found);
    } else if (const auto* send = std::get_if<HoldSend>(&action)) {
      const auto number = static_cast<std::uint64_t>(send->to.process);
      One& one = members[number];
      if (one.silent) return;
      obey(one, send->request);
      HoldAnswer answer{send->to,
                        "rank " + std::to_string(number - 1),
                        static_cast<int>(number) - 1,
                        announced,
                        send->request.number,
                        {}};
      answer.report.id = one.id;
      answer.report.state = one.state;
      answer.report.members = one.members;
      if (send->request.action == HoldAction::kStart) answer.report.refusal = one.refusal;
      events.emplace_back(answer);
    } else {
      progress.push_back(std::get<HoldProgress>(action));
    }
  }
  static void obey(One& one, const HoldRequest& request) {
    if (request.action == HoldAction::kStart && one.refusal.empty()) {
      one.id = request.id;
      one.state = one.slow ? HoldState::kParking : HoldState::kParked;
      one.members = request.members;
      ++one.leases;
    } else if (request.action == HoldAction::kEnd && one.id == request.id) {
      one.id = 0;
      one.state = HoldState::kNone;
    }
  }
};

}  // namespace livebtl::test
