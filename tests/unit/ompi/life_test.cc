// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ompi/life_test.cc -- a request is given back once, by its user or by the thread that
// completes it, and a thread that is late does not affect its next turn.
#include "ompi/life.h"

#include <doctest/doctest.h>

#include <thread>

namespace livebtl::ompi {
namespace {

template <class Check>
void with_any_threads(Check check) {
  for (const Threads threads : {Threads::kOne, Threads::kSeveral}) {
    CAPTURE(threads == Threads::kOne);
    check(threads);
  }
}

TEST_CASE("freed after its end: the user gives it back") {
  with_any_threads([](Threads threads) {
    Life life;
    life.begin();
    CHECK_FALSE(life.end(life.turn(), threads));
    CHECK(life.free(threads));
  });
}

TEST_CASE("freed before its end: the completing thread gives it back") {
  with_any_threads([](Threads threads) {
    Life life;
    life.begin();
    CHECK_FALSE(life.free(threads));
    CHECK(life.end(life.turn(), threads));
  });
}

TEST_CASE("one that was never started is the user's to give back") {
  with_any_threads([](Threads threads) {
    Life life;
    CHECK(life.free(threads));
  });
}

TEST_CASE("the end of an old turn is void") {
  with_any_threads([](Threads threads) {
    Life life;
    life.begin();
    const Life::Turn old = life.turn();
    life.begin();  // woken, the user has started it again
    CHECK_FALSE(life.end(old, threads));
    CHECK_FALSE(life.free(threads));  // it is active
    CHECK(life.end(life.turn(), threads));
  });
}

TEST_CASE("a recycled request is not given back for its former user") {
  with_any_threads([](Threads threads) {
    Life life;
    life.begin();
    const Life::Turn old = life.turn();
    CHECK_FALSE(life.end(old, threads));
    CHECK(life.free(threads));
    life.begin();  // taken from the pool again
    CHECK_FALSE(life.end(old, threads));
  });
}

TEST_CASE("whichever comes first, exactly one gives it back") {
  for (int i = 0; i < 2000; ++i) {
    Life life;
    life.begin();
    const Life::Turn turn = life.turn();
    int by_user = 0, by_end = 0;
    std::thread completing([&] { by_end = life.end(turn, Threads::kSeveral) ? 1 : 0; });
    by_user = life.free(Threads::kSeveral) ? 1 : 0;
    completing.join();
    REQUIRE(by_user + by_end == 1);
  }
}

}  // namespace
}  // namespace livebtl::ompi
