// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/watchd/event_edges_test.cc -- events that begin early, late or again; restarts; what a
// site permits.
#include "tests/unit/watchd/event_world.h"

using namespace livebtl;
using namespace livebtl::watchd;

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
    world.report({notice});  // repeated: this is not a new beginning
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
    const bool told = lines >= 4;  // the line that announces it exists
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
