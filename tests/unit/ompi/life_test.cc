// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ompi/life_test.cc -- a request is given back once, by its user or by the thread that
// completes it, and a thread that is late does not affect its next turn.
#include "ompi/life.h"

#include <doctest/doctest.h>

#include <thread>

namespace livebtl::ompi {
namespace {

TEST_CASE("freed after its end: the user gives it back") {
  Life life;
  life.begin();
  CHECK_FALSE(life.end(life.turn()));
  CHECK(life.free());
}

TEST_CASE("freed before its end: the completing thread gives it back") {
  Life life;
  life.begin();
  CHECK_FALSE(life.free());
  CHECK(life.end(life.turn()));
}

TEST_CASE("one that was never started is the user's to give back") {
  Life life;
  CHECK(life.free());
}

TEST_CASE("the end of an old turn is void") {
  Life life;
  life.begin();
  const Life::Turn old = life.turn();
  life.begin();  // woken, the user has started it again
  CHECK_FALSE(life.end(old));
  CHECK_FALSE(life.free());  // it is active
  CHECK(life.end(life.turn()));
}

TEST_CASE("a recycled request is not given back for its former user") {
  Life life;
  life.begin();
  const Life::Turn old = life.turn();
  CHECK_FALSE(life.end(old));
  CHECK(life.free());
  life.begin();  // taken from the pool again
  CHECK_FALSE(life.end(old));
}

TEST_CASE("whichever comes first, exactly one gives it back") {
  for (int i = 0; i < 2000; ++i) {
    Life life;
    life.begin();
    const Life::Turn turn = life.turn();
    int by_user = 0, by_end = 0;
    std::thread completing([&] { by_end = life.end(turn) ? 1 : 0; });
    by_user = life.free() ? 1 : 0;
    completing.join();
    REQUIRE(by_user + by_end == 1);
  }
}

}  // namespace
}  // namespace livebtl::ompi
