// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/watchd/event_machine_test.cc -- what is done about events, and when: in virtual time.
#include "tests/unit/watchd/event_world.h"

using namespace livebtl;
using namespace livebtl::watchd;

TEST_CASE("an event is prepared for, acknowledged once, and returned from when it is over") {
  World world;
  const Notice notice = world.in(900 * kSecond, true);
  world.report({notice});
  CHECK(world.settle() == Steps{Do::kPrepare, Do::kAcknowledge});
  for (int i = 0; i < 20; ++i) {  // meanwhile the source keeps repeating it
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
  CHECK(world.settle() == Steps{Do::kReturn});  // part of it may have been set aside
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
