// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/ladder/poll_test.cc -- the members of a job, asked until each has answered.
#include "control/ladder/poll.h"

#include <doctest/doctest.h>

#include <string>
#include <variant>

#include "control/ladder/hold_types.h"

using namespace livebtl;
using namespace livebtl::control;

namespace {

constexpr TimeNs kMs = kMillisecond;
constexpr Backoff::Limits kPollLimits = {20 * kMs, 100 * kMs, kSecond};
using Members = Poll<Polled<HoldAnswer>>;

MemberId id(std::uint64_t process) { return {ProcessId{process}, {}}; }

HoldAnswer answer_of(std::uint64_t process, std::uint64_t number, std::string name = "") {
  HoldAnswer answer;
  answer.member = id(process);
  answer.number = number;
  answer.name = std::move(name);
  answer.rank = static_cast<int>(process) - 1;
  answer.announced = 3;
  return answer;
}

bool any(const HoldAnswer&) { return true; }

/// Members with the processes 1 to `count`.
Members members(std::uint64_t count) {
  Members poll;
  for (std::uint64_t process = 1; process <= count; ++process) poll.found({0, {id(process)}}, 0);
  return poll;
}

/// The number of the scan that is asked for; 0 if none is.
std::uint64_t asked_scan(Members& poll, TimeNs now) {
  std::vector<std::variant<Scan>> actions;
  (void)poll.all_known(now, actions);
  return actions.empty() ? 0 : std::get<Scan>(actions.at(0)).number;
}

bool all_known(Members& poll, TimeNs now) {
  std::vector<std::variant<Scan>> actions;
  return poll.all_known(now, actions);
}

}  // namespace

TEST_CASE("all have answered when each has, and as is wanted") {
  Members poll = members(2);
  CHECK_FALSE(poll.all_answered(any));
  CHECK(poll.take(answer_of(1, 1, "first")) != nullptr);
  CHECK_FALSE(poll.all_answered(any));
  CHECK(poll.take(answer_of(2, 1, "second")) != nullptr);
  CHECK(poll.all_answered(any));
  CHECK_FALSE(poll.all_answered([](const HoldAnswer& answer) { return answer.name == "first"; }));
}

TEST_CASE("an answer to an older question, and one that comes twice, change nothing") {
  Members poll = members(1);
  REQUIRE(poll.take(answer_of(1, 5, "new")) != nullptr);
  CHECK(poll.take(answer_of(1, 4, "late")) == nullptr);
  CHECK(poll.take(answer_of(1, 5, "again")) == nullptr);
  CHECK(poll.find(id(1))->answer->name == "new");
  CHECK(poll.take(answer_of(1, 6, "newer")) != nullptr);
  CHECK(poll.find(id(1))->answer->name == "newer");
}

TEST_CASE("an answer of a process that was never found is none") {
  Members poll = members(1);
  CHECK(poll.take(answer_of(2, 1)) == nullptr);
  CHECK(poll.size() == 1);
}

TEST_CASE("a member that has vanished is waited for no more, and does not come back") {
  Members poll = members(2);
  poll.take(answer_of(1, 1));
  poll.gone({id(2), -1});
  CHECK(poll.all_answered(any));
  CHECK(poll.left() == 1);
  CHECK_FALSE(poll.found({0, {id(1), id(2)}}, 0));
  CHECK(poll.size() == 1);
  CHECK(poll.take(answer_of(2, 9)) == nullptr);
}

TEST_CASE("a newcomer is news once, is due at once, and has to answer, too") {
  Members poll = members(1);
  poll.take(answer_of(1, 1));
  CHECK(poll.found({0, {id(1), id(2)}}, 0));
  CHECK_FALSE(poll.found({0, {id(1), id(2)}}, 0));
  CHECK_FALSE(poll.all_answered(any));
  CHECK(poll.find(id(2))->backoff.due_at(kPollLimits) < 0);
}

TEST_CASE("a silent member is asked again later and later, an answer sets the rate") {
  Members poll = members(1);
  Backoff& backoff = poll.find(id(1))->backoff;
  backoff.asked(0, kPollLimits);
  CHECK(backoff.due_at(kPollLimits) == 100 * kMs);
  backoff.asked(100 * kMs, kPollLimits);
  CHECK(backoff.due_at(kPollLimits) == 300 * kMs);
  poll.take(answer_of(1, 1));
  backoff.answered(310 * kMs, kPollLimits);
  CHECK(backoff.due_at(kPollLimits) == 330 * kMs);
  backoff.asked(330 * kMs, kPollLimits);
  CHECK(backoff.due_at(kPollLimits) == 950 * kMs);
}

TEST_CASE("all are known when a scan has ended that began after it was wanted") {
  Members poll;
  CHECK(asked_scan(poll, 0) == 1);
  CHECK(asked_scan(poll, 0) == 0);
  CHECK_FALSE(all_known(poll, 0));
  CHECK(poll.found({1, {id(1)}}, kMs));
  CHECK(all_known(poll, kMs));
  poll.want_scan();
  CHECK(asked_scan(poll, 2 * kMs) == 2);
  poll.found({1, {id(1)}}, 3 * kMs);  // the earlier scan
  CHECK_FALSE(all_known(poll, 3 * kMs));
  poll.found({2, {id(1)}}, 4 * kMs);
  CHECK(all_known(poll, 4 * kMs));
}

TEST_CASE("scans go on while announced members are missing, neither there nor gone") {
  Members poll;
  CHECK(asked_scan(poll, 0) == 1);
  CHECK(poll.rescan_at(100 * kMs) == INT64_MAX);
  poll.found({1, {}}, 0);
  CHECK(poll.rescan_at(100 * kMs) == 100 * kMs);
  for (const std::uint64_t process : {1U, 2U}) {
    poll.found({1, {id(process)}}, 0);
    poll.take(answer_of(process, 1));
  }
  CHECK(poll.missing().ranks == std::vector<int>{2});
  CHECK(poll.rescan_at(100 * kMs) == 100 * kMs);
  poll.gone({id(2), -1});  // its rank is known from its answer
  CHECK(poll.missing().ranks == std::vector<int>{2});
  poll.gone({id(3), 2});
  CHECK(poll.missing().count == 0);
  CHECK(poll.rescan_at(100 * kMs) == INT64_MAX);
}
