// SPDX-License-Identifier: BSD-3-Clause
// search_plan_test.cc -- which processes are asked where they listen, how many at once, how often.
#include "control/agent/search_plan.h"

#include <doctest/doctest.h>

#include <map>

using namespace livebtl;
using namespace livebtl::control;

namespace {

std::vector<ProcessId> processes(std::uint64_t count) {
  std::vector<ProcessId> all;
  for (std::uint64_t i = 1; i <= count; ++i) all.push_back(ProcessId{i});
  return all;
}

}  // namespace

TEST_CASE("nobody is asked while nobody is sought, and then at once") {
  SearchPlan plan;
  CHECK(plan.due({}, 0).empty());
  CHECK(plan.due({}, kSecond).empty());
  CHECK(plan.due(processes(1), kSecond) == processes(1));
}

TEST_CASE("who does not answer is asked ever more seldom, up to a bound") {
  SearchPlan plan;
  TimeNs now = 0, before = 0;
  for (int i = 0; i < 30; ++i) {
    CHECK(plan.due(processes(1), now) == processes(1));
    CHECK(plan.due(processes(1), plan.due_at() - 1).empty());
    const TimeNs pause = plan.due_at() - now;
    CHECK(pause >= std::max(before, SearchPlan::kPauseLeast));
    CHECK(pause <= SearchPlan::kPauseMost);
    if (i > 1 && before < SearchPlan::kPauseMost / 2) CHECK(pause == 2 * before);
    before = pause;
    now = plan.due_at();
  }
  CHECK(before == SearchPlan::kPauseMost);
}

TEST_CASE("a change ends the pause") {
  SearchPlan plan;
  for (int i = 0; i < 20; ++i) plan.due(processes(1), plan.due_at());
  const TimeNs now = plan.due_at() - SearchPlan::kPauseMost + 1;
  CHECK(plan.due(processes(1), now).empty());
  plan.hurry();
  CHECK(plan.due(processes(1), now) == processes(1));
  CHECK(plan.due_at() == now + SearchPlan::kPauseLeast);
}

TEST_CASE("of many a few are asked at once, all in turn, before any pause grows") {
  SearchPlan plan;
  const auto sought = processes(100);
  std::map<ProcessId, int> asked;
  TimeNs now = 0;
  for (int i = 0; i < 7; ++i) {
    const auto due = plan.due(sought, now);
    CHECK(due.size() == SearchPlan::kAtOnce);
    for (const ProcessId each : due) ++asked[each];
    CHECK(plan.due_at() - now == SearchPlan::kPauseLeast);
    now = plan.due_at();
  }
  CHECK(asked.size() == 100);
  for (const auto& [process, times] : asked) CHECK(times <= 2);
}

TEST_CASE("a round ends with whoever is last, once") {
  SearchPlan one;
  for (int i = 0; i < 5; ++i) {
    one.due(processes(1), one.due_at());
    CHECK(one.round_ended());
  }
  SearchPlan many;
  const auto sought = processes(5 * SearchPlan::kAtOnce);
  for (int i = 1; i <= 20; ++i) {
    const auto due = many.due(sought, many.due_at());
    CHECK(many.round_ended() == (i % 5 == 0));
    CHECK(many.round_ended() == (due.back() == sought.back()));
  }
}

TEST_CASE("those that were found make room for the others") {
  SearchPlan plan;
  auto sought = processes(40);
  TimeNs now = 0;
  int rounds = 0;
  while (!sought.empty() && ++rounds < 10) {
    for (const ProcessId each : plan.due(sought, now)) std::erase(sought, each);
    now = plan.due_at();
  }
  CHECK(rounds == 3);
}
