// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/perf/course_test.cc -- how long a measurement goes on, which time belongs to which
// switch, and that each message's content is its own.
#include "perf/course.h"

#include <doctest/doctest.h>

#include "perf/buffer.h"
#include "perf/pair.h"

using namespace livebtl;
using namespace livebtl::perf;

TEST_CASE("a measurement ends when there were rounds enough and the time is over") {
  Course course({.warm_up = 2, .rounds = 3}, nullptr);
  const TimeNs now = monotonic_now();
  CHECK_FALSE(course.is_last(3, now));
  CHECK(course.is_last(4, now));
  for (std::uint64_t round = 0; round < 5; ++round) course.add(round, 10);
  CHECK(course.times().count() == 3);
  CHECK(course.elapsed() == 30);
  const Course long_one({.rounds = 1, .time = kSecond}, nullptr);
  CHECK_FALSE(long_one.is_last(5, monotonic_now()));
  CHECK(long_one.is_last(5, monotonic_now() + 2 * kSecond));
}

TEST_CASE("of each switch the longest time that overlapped it is kept") {
  SwitchBoard board;
  SwitchWatch watch(board);
  watch.observe(1000);  // no switch is under way
  board.begun = 1;
  watch.observe(50);
  watch.observe(70);
  board.done = 1;
  watch.observe(60);  // the switch ended during this one
  watch.observe(5000);
  CHECK(watch.switches() == 1);
  CHECK(watch.longest_times().count() == 1);
  CHECK(watch.longest_times().most() == 70);
  board.begun = 2;
  board.done = 2;  // begun and done within one time
  watch.observe(90);
  CHECK(watch.longest_times().count() == 2);
  CHECK(watch.longest_times().most() == 90);
}

TEST_CASE("a tag says which message it is") {
  for (const bool last : {false, true}) {
    const Label label = label_of(tag_of({Label::Kind::kAnswer, kGaveUp, last}));
    CHECK(label.kind == Label::Kind::kAnswer);
    CHECK(label.number == kGaveUp);
    CHECK(label.last == last);
  }
  CHECK((tag_of({Label::Kind::kData, 7, true}) & ~kAnyNumber) == tag_of({Label::Kind::kData}));
  CHECK((tag_of({Label::Kind::kData, 7}) & ~kAnyNumber) != tag_of({Label::Kind::kControl}));
}

TEST_CASE("content is of one message and of one place in it") {
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{1000}}) {
    Buffer buffer(bytes);
    buffer.fill(3);
    CHECK(buffer.holds(3));
    CHECK_FALSE(buffer.holds(4));
    buffer.data()[bytes - 1] ^= std::byte{1};
    CHECK_FALSE(buffer.holds(3));
  }
  Buffer two(16), one(8);
  two.fill(5);
  CHECK(std::memcmp(two.data(), two.data() + 8, 8) != 0);
  CHECK(Buffer(0).holds(9));
}
