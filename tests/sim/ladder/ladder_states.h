// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/ladder/ladder_states.h -- a state of the whole job, for exploration: machines shared
// between states, the soup of requests, frames in flight, and what can still go wrong.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/sim/ladder/ladder_probe.h"

namespace livebtl::control::explore {

struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Case {
  const char* name;
  std::size_t members;
  std::vector<std::vector<std::string>> commands;  // verb and arguments
  int timeouts, refusals;
  std::size_t senders;  // members that send data, each to the next
};

/// A machine that many states share; a step makes a changed copy.
template <class Machine>
struct Shared {
  std::shared_ptr<const Machine> machine;
  std::uint64_t digest = 0;

  void set(Machine changed) {
    Digest out;
    LadderProbe::digest(changed, out);
    digest = out.value();
    if constexpr (std::is_same_v<Machine, MemberMachine>) {
      term = LadderProbe::term(changed);
      seq = LadderProbe::seq(changed);
    }
    machine = std::make_shared<const Machine>(std::move(changed));
  }
  // Of a member: the newest order that it follows.
  Term term;
  std::uint64_t seq = 0;
};

struct Mail {
  std::size_t coordinator, member;
  Term term;
  std::uint64_t seq;  // 0: not an order
  bool question;      // a StandingRequest
  std::shared_ptr<const Request> request;
  std::uint64_t digest;
};

struct Flight {
  int to = -1;  // nobody
  bool on_new = false;
  bool operator==(const Flight&) const = default;
};

struct State {
  std::vector<Shared<MemberMachine>> members;
  std::vector<Shared<CoordinatorMachine>> coordinators;  // null machine: not begun
  std::vector<char> begun;
  std::vector<Mail> soup;
  std::vector<Flight> flights;
  int timeouts = 0, refusals = 0;

  std::uint64_t digest() const {
    Digest out;
    for (const auto& one : members) out.add(one.digest);
    for (const auto& one : coordinators) out.add(one.machine ? one.digest : 0);
    for (const char bit : begun) out.add(bit);
    std::uint64_t together = 0;  // order-independent, as for a set
    for (const auto& mail : soup) together += mail.digest;
    out.add(together);
    for (const auto& flight : flights) {
      out.add(flight.to);
      out.add(flight.on_new);
    }
    out.add(timeouts * 100 + refusals);
    return out.value();
  }
};

}  // namespace livebtl::control::explore
