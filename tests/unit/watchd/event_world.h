// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/watchd/event_world.h -- an EventMachine with its clock and journal, for tests in virtual time.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>

#include "watchd/events/event_machine.h"

namespace livebtl::watchd {

using Do = Action::Do;
using How = Outcome::Kind;

inline constexpr UnixNs kEpoch = 1'800'000'000 * kSecond;

/// A machine with its clock and all that it has recorded.
struct World {
  explicit World(const Policy& with = {}) : policy(with) {}

  Policy policy;
  EventMachine machine{policy, 1};
  TimeNs time = 1000 * kSecond;
  std::vector<Entry> journal;

  Now now() const { return {time, kEpoch + time}; }
  void note() {
    auto fresh = machine.entries();
    journal.insert(journal.end(), fresh.begin(), fresh.end());
  }
  void report(std::vector<Notice> notices, const char* source = "azure") {
    machine.take({source, true, std::move(notices), {}}, now());
    note();
  }
  Action next() {
    Action action = machine.next(now());
    note();
    return action;
  }
  void end(const Action& action, How kind = How::kDone, const char* text = "") {
    machine.ended(action, {kind, text}, now());
    note();
  }
  /// Does all that is due, always with this outcome; returns what was done.
  std::vector<Do> settle(How kind = How::kDone) {
    std::vector<Do> done;
    for (Action action = next(); action.what != Do::kWait; action = next()) {
      done.push_back(action.what);
      end(action, kind);
      REQUIRE(done.size() < 100);
    }
    return done;
  }
  std::vector<State> states(const std::string& id) const {
    std::vector<State> all;
    for (const Entry& entry : journal)
      if (entry.notice.id == id) all.push_back(entry.state);
    return all;
  }
  /// Returns another process's machine that has read the journal.
  World restarted() const {
    World other(policy);
    other.time = time;
    for (const Entry& entry : journal) other.machine.replay(entry, other.now());
    other.journal = journal;
    return other;
  }
  Notice in(TimeNs ahead, bool acknowledgeable = false, const char* id = "e1") const {
    return {.id = id,
            .kind = Kind::kFreeze,
            .start = kEpoch + time + ahead,
            .acknowledgeable = acknowledgeable};
  }
};

using Steps = std::vector<Do>;
using States = std::vector<State>;

}  // namespace livebtl::watchd
