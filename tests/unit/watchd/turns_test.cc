// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/watchd/turns_test.cc -- whose job is served next, and for how long: in virtual time.
#include "watchd/turns.h"

#include <doctest/doctest.h>

using namespace livebtl;
using namespace livebtl::watchd;

namespace {

std::vector<Job> jobs_of(const std::string& user, std::size_t count) {
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < count; ++i) jobs.push_back({user + std::to_string(i), user});
  return jobs;
}

std::vector<Job> operator+(std::vector<Job> some, const std::vector<Job>& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

/// Each job uses up its turn. Returns whose turns came, in their order.
std::vector<std::string> all_silent(Turns& turns, TimeNs until) {
  std::vector<std::string> served;
  TimeNs now = 0;
  while (const auto turn = turns.next(now, until)) {
    served.push_back(turn->job.id);
    now = turn->until;
  }
  return served;
}

}  // namespace

TEST_CASE("users take turns, whatever their jobs are called") {
  Turns turns(jobs_of("a", 3) + jobs_of("b", 1) + jobs_of("c", 2));
  CHECK(all_silent(turns, 600 * kSecond) ==
        std::vector<std::string>{"a0", "b0", "c0", "a1", "c1", "a2"});
  CHECK(turns.left() == 0);
}

TEST_CASE("a user with many silent jobs costs another one half of the time, and not the end") {
  Turns turns(jobs_of("a", 200) + jobs_of("b", 1));
  const auto first = turns.next(0, 20 * kSecond);
  REQUIRE(first);
  CHECK(first->job.user == "a");
  CHECK(first->until == kTurnUsual);
  const auto second = turns.next(first->until, 20 * kSecond);
  REQUIRE(second);
  CHECK(second->job.user == "b");
  CHECK(second->until - first->until == 19 * kSecond / 2);
  TimeNs now = second->until;
  while (const auto turn = turns.next(now, 20 * kSecond)) now = turn->until;
  CHECK(now >= 20 * kSecond);
  CHECK(now < 20 * kSecond + kTurnUsual);
  CHECK(turns.left() > 150);
}

TEST_CASE(
    "where there is hardly any time each user still has a turn, and nobody one that is no use") {
  Turns turns(jobs_of("a", 9) + jobs_of("b", 9) + jobs_of("c", 9));
  const auto served = all_silent(turns, kSecond);
  REQUIRE(served.size() >= 3);
  CHECK(served[2] == "c0");
  Turns late(jobs_of("a", 1));
  const auto turn = late.next(0, 1);
  REQUIRE(turn);
  CHECK(turn->until == kTurnLeast);
  CHECK_FALSE(Turns(jobs_of("a", 1)).next(1, 1));
}

TEST_CASE("a silent job does not take all that its user has left") {
  Turns turns(jobs_of("a", 2));
  CHECK(all_silent(turns, kSecond) == std::vector<std::string>{"a0", "a1"});
  Turns hardly(jobs_of("a", 8));
  CHECK(all_silent(hardly, kSecond).size() == 4);
}

TEST_CASE("a single user's job has all the time, and what others do not use is shared") {
  Turns one(jobs_of("a", 1));
  CHECK(one.next(0, 30 * kSecond)->until == 30 * kSecond);
  Turns two(jobs_of("a", 1) + jobs_of("b", 1));
  CHECK(two.next(0, 30 * kSecond)->until == 15 * kSecond);
  CHECK(two.next(1, 30 * kSecond + 1)->until == 30 * kSecond + 1);
}

TEST_CASE("of one user's jobs so many are served, and it is said how many are not") {
  Turns turns(jobs_of("a", kJobsOfUserMax + 3) + jobs_of("b", 1));
  CHECK(turns.left() == kJobsOfUserMax + 1);
  CHECK(turns.too_many().find("3 jobs of user a are left as they are") != std::string::npos);
  CHECK(Turns(jobs_of("a", kJobsOfUserMax)).too_many().empty());
}
