// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/watchd/event_machine_test.cc -- what is done about events, and when: in virtual time.
#include "watchd/events/event_machine.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace livebtl;
using namespace livebtl::watchd;

namespace {

using Do = Action::Do;
using How = Outcome::Kind;

constexpr UnixNs kEpoch = 1'800'000'000 * kSecond;

/// A machine with its clock and all that it has written down.
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
  /// Does all that is due, all with the same outcome; returns what it was.
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
  /// Another process that has read the journal.
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

}  // namespace

TEST_CASE("an event is prepared for, acknowledged once, and returned from when it is over") {
  World world;
  const Notice notice = world.in(900 * kSecond, true);
  world.report({notice});
  CHECK(world.settle() == Steps{Do::kPrepare, Do::kAcknowledge});
  for (int i = 0; i < 20; ++i) {  // the source repeats it all the while
    world.time += kSecond;
    world.report({notice});
    CHECK(world.settle().empty());
  }
  Notice begun = notice;
  begun.begun = true;
  begun.start.reset();
  world.report({begun});
  CHECK(world.settle().empty());
  world.report({});
  CHECK(world.settle() == Steps{Do::kReturn});
  CHECK(world.machine.idle());
  CHECK(world.states("e1") == States{State::kSeen, State::kPreparing, State::kReleased,
                                     State::kAcknowledging, State::kAcknowledged, State::kOver,
                                     State::kReturned});
}

TEST_CASE("what cannot be acknowledged is prepared for as late as is safe") {
  World world;
  world.report({world.in(900 * kSecond)});
  const Action wait = world.next();
  CHECK(wait.what == Do::kWait);
  CHECK(wait.until == world.time + 840 * kSecond);
  world.time = wait.until;
  const Action action = world.next();
  CHECK(action.what == Do::kPrepare);
  CHECK(action.until == world.time + world.policy.prepare_timeout);
}

TEST_CASE("a call ends before the event begins") {
  World world;
  world.report({world.in(10 * kSecond)});
  const Action action = world.next();
  CHECK(action.what == Do::kPrepare);
  CHECK(action.until == world.time + 9 * kSecond);
}

TEST_CASE(
    "nothing is acknowledged before all is released, and what failed is tried again until the "
    "event begins") {
  World world;
  const TimeNs start = world.time + 20 * kSecond;
  world.report({world.in(20 * kSecond, true)});
  int calls = 0;
  for (Action action = world.next(); world.time < start; action = world.next()) {
    REQUIRE(action.what != Do::kAcknowledge);
    if (action.what == Do::kPrepare) {
      CHECK(action.until <= start);
      ++calls;
      world.end(action, How::kNotDone, "code 7: held by somebody else");
    } else {
      REQUIRE(action.until > world.time);
      world.time = action.until;
    }
  }
  CHECK(calls >= 4);
  CHECK(calls <= 30);
  CHECK(world.states("e1").back() == State::kMissed);
  CHECK(world.journal.back().text.find("held by somebody else") != std::string::npos);
  CHECK(world.settle().empty());
  world.report({});
  CHECK(world.settle() == Steps{Do::kReturn});  // a part of it may have been set aside
}

TEST_CASE(
    "an event that is withdrawn in time is not prepared for, and one that is prepared for is taken "
    "back") {
  World world;
  world.report({world.in(900 * kSecond)});
  CHECK(world.settle().empty());
  world.report({});
  CHECK(world.settle().empty());
  CHECK(world.states("e1") == States{State::kSeen, State::kOver, State::kReturned});

  world.report({world.in(30 * kSecond, false, "e2")});
  CHECK(world.settle() == Steps{Do::kPrepare});
  world.report({});
  CHECK(world.settle() == Steps{Do::kReturn});
}

TEST_CASE("silence is not an answer") {
  World world;
  world.report({world.in(10 * kSecond)});
  world.settle();
  world.time += 100 * kSecond;
  CHECK(world.settle().empty());  // nobody has said that it is over
  world.time += world.policy.lost_after;
  CHECK(world.settle() == Steps{Do::kReturn});
  CHECK(world.states("e1").back() == State::kReturned);
}

TEST_CASE("silence before the start does not give an event up") {
  World world;
  world.report({world.in(7200 * kSecond)});
  world.time += 7150 * kSecond;
  CHECK(world.settle() == Steps{Do::kPrepare});
}

TEST_CASE("the job returns when the last of several events is over, and once") {
  World world;
  const Notice one = world.in(30 * kSecond, false, "one");
  const Notice other = world.in(20 * kSecond, false, "other");
  world.report({one, other});
  const Action first = world.next();
  CHECK(first.id == "other");  // it begins earlier
  world.end(first);
  CHECK(world.settle() == Steps{Do::kPrepare});
  world.report({one});
  CHECK(world.settle().empty());
  world.report({});
  CHECK(world.settle() == Steps{Do::kReturn});
  CHECK(world.machine.idle());
}

TEST_CASE("an event that is still far away does not keep the job from its devices") {
  World world;
  world.report({world.in(10 * kSecond, false, "near"), world.in(90'000 * kSecond, false, "far")});
  CHECK(world.settle() == Steps{Do::kPrepare});
  world.report({world.in(90'000 * kSecond, false, "far")});
  CHECK(world.settle() == Steps{Do::kReturn});
}

TEST_CASE("a new event comes before the return from the last") {
  World world;
  world.report({world.in(10 * kSecond, false, "one")});
  world.settle();
  world.report({});
  world.end(world.next(), How::kNotDone, "busy");
  world.report({world.in(10 * kSecond, false, "two")});
  CHECK(world.settle() == Steps{Do::kPrepare});
  world.report({});
  CHECK(world.settle() == Steps{Do::kReturn});
  CHECK(world.machine.idle());
}

TEST_CASE("an event that comes again while the job returns is prepared for again") {
  World world;
  world.report({world.in(10 * kSecond)});
  world.settle();
  world.report({});
  world.end(world.next(), How::kNotDone, "busy");
  world.report({world.in(10 * kSecond)});
  CHECK(world.settle() == Steps{Do::kPrepare});
}

TEST_CASE("a return that fails is tried again, ever more seldom, and is not given up") {
  World world;
  world.report({world.in(10 * kSecond)});
  world.settle();
  world.report({});
  TimeNs longest = 0;
  for (int i = 0; i < 20; ++i) {
    Action action = world.next();
    if (action.what == Do::kWait) {
      longest = std::max(longest, action.until - world.time);
      world.time = action.until;
      action = world.next();
    }
    REQUIRE(action.what == Do::kReturn);
    world.end(action, How::kNotDone, "the device is not there");
  }
  CHECK(longest > 20 * kSecond);
  CHECK(longest <= 38 * kSecond);
  CHECK(world.states("e1").size() < 14);  // the journal does not fill up
  world.time += 60 * kSecond;
  CHECK(world.settle() == Steps{Do::kReturn});
}

TEST_CASE("what has begun when it is first seen is tried once") {
  World world;
  Notice notice = world.in(0, true);
  notice.start.reset();
  notice.begun = true;
  world.report({notice});
  Action action = world.next();
  CHECK(action.what == Do::kPrepare);
  world.end(action, How::kNotDone, "busy");
  for (int i = 0; i < 40; ++i) {
    world.time += kSecond;
    world.report({notice});  // repeated: that is no new beginning
    world.settle(How::kNotDone);
  }
  CHECK(world.states("e1").back() == State::kMissed);
}

TEST_CASE("a start that is only reckoned does not move when the notice is repeated") {
  World world;
  const Notice notice{.id = "m", .kind = Kind::kMigrate, .usual_lead = 60 * kSecond};
  world.report({notice});
  const Action first = world.next();
  CHECK(first.what == Do::kPrepare);
  world.end(first, How::kNotDone, "busy");
  for (int i = 0; i < 61; ++i) {
    world.time += kSecond;
    world.report({notice});
    world.settle(How::kNotDone);
  }
  CHECK(world.states("m").back() == State::kMissed);
}

TEST_CASE("an event that is put off is prepared for anew") {
  World world;
  world.report({world.in(5 * kSecond)});
  world.end(world.next(), How::kNotDone, "busy");
  world.time += 6 * kSecond;
  world.next();
  CHECK(world.states("e1").back() == State::kMissed);
  world.report({world.in(30 * kSecond)});
  CHECK(world.settle() == Steps{Do::kPrepare});
}

TEST_CASE("an acknowledgement without an answer is not repeated; one that was not taken is") {
  World world;
  world.report({world.in(900 * kSecond, true)});
  world.end(world.next());
  Action action = world.next();
  REQUIRE(action.what == Do::kAcknowledge);
  world.end(action, How::kNotDone, "503");
  action = world.next();
  REQUIRE(action.what == Do::kWait);
  world.time = action.until;
  action = world.next();
  REQUIRE(action.what == Do::kAcknowledge);
  world.end(action, How::kUnknown, "no answer");
  world.time += 100 * kSecond;
  CHECK(world.settle().empty());
  CHECK(world.states("e1").back() == State::kAcknowledged);
}

TEST_CASE("a site may keep events from being acknowledged, and kinds from being acted upon") {
  Policy policy;
  policy.acknowledges = false;
  policy.kinds[static_cast<std::size_t>(Kind::kReboot)] = false;
  World world(policy);
  Notice reboot = world.in(10 * kSecond, false, "r");
  reboot.kind = Kind::kReboot;
  world.report({world.in(10 * kSecond, true), reboot});
  CHECK(world.settle() == Steps{Do::kPrepare});
  CHECK(world.states("r").empty());
}

TEST_CASE(
    "only what a source says of itself ends its events; one that names ends alone ends those") {
  World world;
  world.report({world.in(10 * kSecond)});
  world.report({world.in(10 * kSecond, false, "s")}, "socket");
  world.settle();
  world.machine.take({"socket", false, {}, {}}, world.now());
  world.report({}, "gce");
  CHECK(world.settle().empty());
  world.machine.take({"socket", false, {}, {"s"}}, world.now());
  world.note();
  CHECK(world.states("s").back() == State::kOver);
  world.report({});
  CHECK(world.settle() == Steps{Do::kReturn});
}

TEST_CASE("a restart after any line goes on, and does nothing twice that may be done once") {
  World whole;
  const Notice notice = whole.in(900 * kSecond, true);
  whole.report({notice});
  whole.settle();
  whole.report({});
  whole.settle();
  REQUIRE(whole.journal.size() == 7);
  for (std::size_t lines = 0; lines <= whole.journal.size(); ++lines) {
    CAPTURE(lines);
    World cut(whole.policy);
    cut.journal.assign(whole.journal.begin(),
                       whole.journal.begin() + static_cast<std::ptrdiff_t>(lines));
    World world = cut.restarted();
    const bool told = std::any_of(cut.journal.begin(), cut.journal.end(), [](const Entry& entry) {
      return entry.state == State::kAcknowledging;
    });
    const bool over = lines >= 6;
    if (!over) world.report({notice});
    const auto steps = world.settle();
    CHECK(std::count(steps.begin(), steps.end(), Do::kAcknowledge) == (told || over ? 0 : 1));
    CHECK(std::count(steps.begin(), steps.end(), Do::kPrepare) == (lines <= 2 ? 1 : 0));
    if (over) {
      CHECK(steps == (lines == 6 ? Steps{Do::kReturn} : Steps{}));
      continue;
    }
    world.report({});
    CHECK(world.settle() == Steps{Do::kReturn});
    CHECK(world.machine.idle());
  }
}

TEST_CASE("a restart finds an event gone that it had prepared for") {
  World world;
  world.report({world.in(10 * kSecond)});
  world.settle();
  World later = world.restarted();
  later.time += 600 * kSecond;
  CHECK(later.settle().empty());
  later.report({});
  CHECK(later.settle() == Steps{Do::kReturn});
}

TEST_CASE("times of other centuries are no trouble") {
  World world;
  Notice far = world.in(0, false, "far");
  far.start = INT64_MAX;
  Notice past = world.in(0, false, "past");
  past.start = INT64_MIN;
  world.report({far, past});
  CHECK(world.settle() == Steps{Do::kPrepare});
}

TEST_CASE("delays double, stay within their bounds, and differ between machines") {
  Random one(1), other(2);
  const Backoff backoff{kSecond, 30 * kSecond};
  bool differs = false;
  for (unsigned failures = 1; failures < 200; ++failures) {
    const TimeNs delay = backoff.delay(failures, one);
    CHECK(delay >= 3 * kSecond / 4);
    CHECK(delay <= 38 * kSecond);
    if (failures == 3) CHECK(delay >= 3 * kSecond);
    differs = differs || delay != backoff.delay(failures, other);
  }
  CHECK(differs);
}
