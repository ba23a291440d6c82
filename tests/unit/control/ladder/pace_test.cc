// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/ladder/pace_test.cc -- who is asked again, when it is looked again.
#include "control/ladder/pace.h"

#include <doctest/doctest.h>

#include <vector>

#include "base/clock.h"
#include "control/ladder/looks.h"

using namespace livebtl;
using namespace livebtl::control;

namespace {

constexpr Pace::Limits kLimits = {20 * kMillisecond, 100 * kMillisecond, kSecond};

/// Asks a member that needs `work` for each question, one after the other, until so many answers
/// are there. How many questions it was asked.
int questions_until(int answers, TimeNs work) {
  Pace pace;
  TimeNs now = 0, busy_until = 0;
  std::vector<TimeNs> under_way;
  int asked = 0;
  while (answers > 0) {
    const TimeNs answer = under_way.empty() ? INT64_MAX : under_way.front();
    const TimeNs due = std::max(now, pace.due_at(kLimits));
    now = std::min(answer, due);
    if (answer <= due) {
      under_way.erase(under_way.begin());
      pace.answered(now, kLimits);
      --answers;
    } else {
      pace.asked(now, kLimits);
      ++asked;
      busy_until = std::max(busy_until, now) + work;
      under_way.push_back(busy_until);
    }
  }
  return asked;
}

}  // namespace

TEST_CASE("another question is due at once, and soon after an answer") {
  Pace pace;
  CHECK(pace.due_at(kLimits) < 0);
  pace.asked(0, kLimits);
  pace.answered(kMillisecond, kLimits);
  CHECK(pace.due_at(kLimits) == 21 * kMillisecond);
  pace.begin();
  CHECK(pace.due_at(kLimits) < 0);
}

TEST_CASE("who says nothing is asked less and less often, to a bound") {
  Pace pace;
  TimeNs now = 0, longest = 0;
  for (int i = 0; i < 10; ++i) {
    pace.asked(now, kLimits);
    const TimeNs pause = pace.due_at(kLimits) - now;
    CHECK(pause >= longest);
    longest = std::max(longest, pause);
    now += pause;
  }
  CHECK(longest == kSecond);
}

TEST_CASE("a slow member does not get more questions than it can answer") {
  CHECK(questions_until(50, kMillisecond) == 50);
  CHECK(questions_until(50, 90 * kMillisecond) == 50);
  CHECK(questions_until(50, 300 * kMillisecond) <= 60);
  CHECK(questions_until(50, 800 * kMillisecond) <= 110);
}

TEST_CASE("a member that has become fast is asked at its pace again") {
  Pace pace;
  pace.asked(0, kLimits);
  pace.answered(kSecond, kLimits);
  pace.asked(kSecond + kLimits.soon, kLimits);
  CHECK(pace.due_at(kLimits) == 2 * kSecond + kLimits.soon);
  pace.answered(kSecond + kLimits.soon + kMillisecond, kLimits);
  const TimeNs next = pace.due_at(kLimits);
  pace.asked(next, kLimits);
  CHECK(pace.due_at(kLimits) == next + kLimits.least);
}

TEST_CASE("a look that takes long leaves as much time for what was answered meanwhile") {
  Looks looks;
  CHECK(looks.begin(0) == 1);
  CHECK_FALSE(looks.begin(0));
  CHECK(looks.under_way());
  looks.answered(1, kMillisecond);
  CHECK_FALSE(looks.under_way());
  CHECK(looks.again_at(100 * kMillisecond) == 101 * kMillisecond);
  looks.want();
  CHECK(looks.begin(kSecond) == 2);
  looks.answered(1, kSecond);  // of before
  CHECK(looks.under_way());
  looks.answered(2, 3 * kSecond);
  CHECK(looks.again_at(100 * kMillisecond) == 5 * kSecond);
}
