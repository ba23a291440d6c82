// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/ladder/backoff_test.cc -- when a silent member is asked again, and when
// members are scanned for again.
#include <doctest/doctest.h>

#include <vector>

#include "base/clock.h"
#include "control/ladder/poll.h"

using namespace livebtl;
using namespace livebtl::control;

namespace {

constexpr Backoff::Limits kLimits = {20 * kMillisecond, 100 * kMillisecond, kSecond};

/// Asks a member that needs `work` for each question, one after the other, until it has given that
/// many answers. Returns how many questions were asked.
int questions_until(int answers, TimeNs work) {
  Backoff backoff;
  TimeNs now = 0, busy_until = 0;
  std::vector<TimeNs> under_way;
  int asked = 0;
  while (answers > 0) {
    const TimeNs answer = under_way.empty() ? INT64_MAX : under_way.front();
    const TimeNs due = std::max(now, backoff.due_at(kLimits));
    now = std::min(answer, due);
    if (answer <= due) {
      under_way.erase(under_way.begin());
      backoff.answered(now, kLimits);
      --answers;
    } else {
      backoff.asked(now, kLimits);
      ++asked;
      busy_until = std::max(busy_until, now) + work;
      under_way.push_back(busy_until);
    }
  }
  return asked;
}

}  // namespace

TEST_CASE("another question is due at once, and soon after an answer") {
  Backoff backoff;
  CHECK(backoff.due_at(kLimits) < 0);
  backoff.asked(0, kLimits);
  backoff.answered(kMillisecond, kLimits);
  CHECK(backoff.due_at(kLimits) == 21 * kMillisecond);
  backoff.begin();
  CHECK(backoff.due_at(kLimits) < 0);
}

TEST_CASE("a silent member is asked less and less often, down to a bound") {
  Backoff backoff;
  TimeNs now = 0, longest = 0;
  for (int i = 0; i < 10; ++i) {
    backoff.asked(now, kLimits);
    const TimeNs pause = backoff.due_at(kLimits) - now;
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

TEST_CASE("a member that has become fast is asked at its rate again") {
  Backoff backoff;
  backoff.asked(0, kLimits);
  backoff.answered(kSecond, kLimits);
  backoff.asked(kSecond + kLimits.soon, kLimits);
  CHECK(backoff.due_at(kLimits) == 2 * kSecond + kLimits.soon);
  backoff.answered(kSecond + kLimits.soon + kMillisecond, kLimits);
  const TimeNs next = backoff.due_at(kLimits);
  backoff.asked(next, kLimits);
  CHECK(backoff.due_at(kLimits) == next + kLimits.least);
}

TEST_CASE("a scan that takes long leaves as much time for what was answered meanwhile") {
  Scans scans;
  CHECK(scans.begin(0) == 1);
  CHECK_FALSE(scans.begin(0));
  CHECK(scans.in_progress());
  scans.ended(1, kMillisecond);
  CHECK_FALSE(scans.in_progress());
  CHECK(scans.again_at(100 * kMillisecond) == 101 * kMillisecond);
  scans.want();
  CHECK(scans.begin(kSecond) == 2);
  scans.ended(1, kSecond);  // the earlier scan
  CHECK(scans.in_progress());
  scans.ended(2, 3 * kSecond);
  CHECK(scans.again_at(100 * kMillisecond) == 5 * kSecond);
}
