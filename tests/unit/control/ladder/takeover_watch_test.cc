// SPDX-License-Identifier: BSD-3-Clause
// takeover_watch_test.cc -- when a member itself finishes what a coordinator has abandoned.
#include "control/ladder/takeover_watch.h"

#include <doctest/doctest.h>

using namespace livebtl;
using namespace livebtl::control;

namespace {

constexpr Term kFirstTerm{1, 5};

struct WatchBench {
  MemberMachine machine{[] {
    MemberFacts facts;
    facts.job = "j";
    facts.member = {ProcessId{1}, Incarnation{}};
    return facts;
  }()};

  WatchBench() { machine.step(JoinAsFirst{}, 0); }
  void feed(const PromiseRequest& request, TimeNs now) { machine.step(request, now); }
};

}  // namespace

TEST_CASE(
    "a member that is not the lowest takes over where four looks and its place have changed "
    "nothing") {
  WatchBench bench;
  TakeoverWatch watch(500 * kMillisecond);
  bench.feed(PromiseRequest{"j", kFirstTerm}, kSecond);
  constexpr std::size_t kBeforeUs = 2;
  for (int look = 0; look < 6; ++look) {
    const TimeNs at = watch.due_at(bench.machine);
    REQUIRE(watch.due(bench.machine, at));
    CHECK_FALSE(watch.left_alone(kBeforeUs));
    CHECK(watch.left_alone(0) == (look >= 4));
    watch.not_ours(at);
  }
  const TimeNs last = watch.due_at(bench.machine);
  REQUIRE(watch.due(bench.machine, last));
  CHECK(watch.left_alone(kBeforeUs));
  // Somebody was at work meanwhile: the count begins anew.
  bench.feed(PromiseRequest{"j", kFirstTerm}, last + kSecond);
  REQUIRE(watch.due(bench.machine, watch.due_at(bench.machine)));
  CHECK_FALSE(watch.left_alone(0));
}

TEST_CASE("a member takes over after lease and delay, later again if in vain, never overslept") {
  WatchBench bench;
  TakeoverWatch watch(500 * kMillisecond);  // waits 1.5 s after the lease
  const TimeNs delay = 1500 * kMillisecond;
  CHECK(watch.due_at(bench.machine) == INT64_MAX);
  CHECK_FALSE(watch.due(bench.machine, 100 * kSecond));
  bench.feed(PromiseRequest{"j", kFirstTerm}, kSecond);
  const TimeNs first = kSecond + kCoordinatorLease + delay;
  CHECK(watch.due_at(bench.machine) == first);
  CHECK_FALSE(watch.due(bench.machine, first - 1));
  bench.feed(PromiseRequest{"j", kFirstTerm}, 2 * kSecond);  // its coordinator lives
  CHECK_FALSE(watch.due(bench.machine, first));
  CHECK(watch.due(bench.machine, first + kSecond));
  watch.tried(true, first + kSecond);
  CHECK(watch.due_at(bench.machine) == first + 3 * kSecond);
  watch.tried(true, first + 3 * kSecond);
  CHECK(watch.due_at(bench.machine) == first + 7 * kSecond);
  // The member stood still for a minute: others may be at work.
  CHECK_FALSE(watch.due(bench.machine, first + kSecond * 67));
  CHECK(watch.due_at(bench.machine) == first + kSecond * 67 + delay);
  CHECK(watch.due(bench.machine, first + kSecond * 70));
}
