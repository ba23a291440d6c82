// SPDX-License-Identifier: BSD-3-Clause
#include "core/switch/settle.h"

#include <doctest/doctest.h>

#include <initializer_list>

using namespace livebtl;
using core::Settle;

TEST_CASE("what was lost is used again when it has been there for five seconds") {
  Settle settle;
  CHECK(!settle.away());
  settle.lost(100 * kSecond);
  CHECK(settle.away());
  CHECK(!settle.look(false, 101 * kSecond));
  CHECK(!settle.look(true, 160 * kSecond));  // first seen
  CHECK(!settle.look(true, 165 * kSecond - 1));
  CHECK(settle.look(true, 165 * kSecond));
  settle.back(165 * kSecond);
  CHECK(!settle.away());
}

TEST_CASE("each relapse doubles the time, up to five minutes") {
  Settle settle;
  TimeNs now = kSecond;
  for (const TimeNs seconds : {5, 10, 20, 40, 80, 160, 300, 300}) {
    settle.lost(now);
    CHECK(settle.delay() == seconds * kSecond);
    CHECK(!settle.look(true, now));
    now = settle.due_at();
    CHECK(settle.look(true, now));
    settle.back(now);
    now += kSecond;
  }
}

TEST_CASE("what shows itself and goes again has relapsed, and begins anew") {
  Settle settle;
  settle.lost(0);
  CHECK(!settle.look(true, kSecond));
  CHECK(!settle.look(false, 2 * kSecond));
  CHECK(settle.delay() == 10 * kSecond);
  CHECK(!settle.look(false, 3 * kSecond));  // still gone: not another relapse
  CHECK(settle.delay() == 10 * kSecond);
  CHECK(!settle.look(true, 4 * kSecond));
  CHECK(!settle.look(true, 13 * kSecond));
  CHECK(settle.look(true, 14 * kSecond));
}

TEST_CASE("what is told to be lost twice was lost once") {
  Settle settle;
  settle.lost(0);
  settle.lost(kSecond);
  CHECK(settle.delay() == Settle::kFirst);
}

TEST_CASE("ten minutes of use without a loss are as if there had been none") {
  Settle settle;
  settle.lost(0);
  settle.back(kSecond);
  settle.lost(kSecond + Settle::kForgotten - 1);
  CHECK(settle.delay() == 10 * kSecond);
  settle.back(2000 * kSecond);
  settle.lost(2000 * kSecond + Settle::kForgotten);
  CHECK(settle.delay() == Settle::kFirst);
}

TEST_CASE("time in which it was away does not count as use") {
  Settle settle;
  settle.lost(0);
  settle.look(true, 3000 * kSecond);
  settle.back(3005 * kSecond);
  settle.lost(3006 * kSecond);
  CHECK(settle.delay() == 10 * kSecond);
}
