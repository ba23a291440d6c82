// SPDX-License-Identifier: BSD-3-Clause
// member_test.cc -- which orders a member accepts, and what it answers.
#include "control/ladder/member.h"

#include <doctest/doctest.h>

using namespace livebtl;
using namespace livebtl::control;

namespace {

struct Bench {
  MemberMachine machine{[] {
    MemberFacts facts;
    facts.job = "j";
    facts.member = {ProcessId{1}, Incarnation{}};
    return facts;
  }()};
  int submitted = 0;

  Bench() { machine.step(JoinAsFirst{}, 0); }

  Standing feed(const MemberEvent& event, TimeNs now = 0) {
    Standing last = machine.standing(now);
    for (const auto& action : machine.step(event, now)) {
      if (const auto* answer = std::get_if<Answer>(&action)) last = answer->standing;
      if (const auto* notice = std::get_if<Notify>(&action)) last = notice->standing;
      submitted += std::holds_alternative<Submit>(action) ? 1 : 0;
    }
    return last;
  }
  Standing reach() {
    const Standing standing = machine.standing(0);
    core::RungReport report;
    report.operation = standing.operation.id;
    report.rung = standing.rung;
    return feed(report);
  }
};

constexpr Term kFirst{1, 5}, kLater{2, 3};

Order order(Term term, std::uint64_t seq, Rung rung, std::uint64_t operation = 9) {
  Order order;
  order.job = "j";
  order.term = term;
  order.seq = seq;
  order.rung = rung;
  order.operation.id = operation;
  order.operation.verb = "switch";
  order.operation.after.moved["a"] = "b";
  return order;
}

}  // namespace

TEST_CASE("an order of a term that was not promised is not taken") {
  Bench bench;
  CHECK(bench.feed(order(kFirst, 1, Rung::kJoint)).seq == 0);
  bench.feed(PromiseRequest{"j", kFirst});
  CHECK(bench.feed(order(kFirst, 1, Rung::kJoint)).seq == 1);
}

TEST_CASE("older terms and older orders are answered as stale and not taken") {
  Bench bench;
  bench.feed(PromiseRequest{"j", kFirst});
  bench.feed(order(kFirst, 2, Rung::kJoint));
  CHECK(bench.feed(order(kFirst, 1, Rung::kOld)).stale);
  CHECK(bench.machine.standing(0).rung == Rung::kJoint);
  bench.feed(PromiseRequest{"j", kLater, true});
  CHECK(bench.feed(order(kFirst, 3, Rung::kOld)).stale);
  CHECK(bench.machine.standing(0).rung == Rung::kJoint);
  CHECK(bench.feed(PromiseRequest{"j", kFirst}).stale);
  CHECK(bench.submitted == 1);
}

TEST_CASE("no single promise uses up the numbers of terms") {
  Bench bench;
  bench.feed(PromiseRequest{"j", kLater});
  CHECK(bench.feed(PromiseRequest{"j", {kTermMax, 5}, true}).term == kLater);
  CHECK(bench.feed(PromiseRequest{"j", {kLater.number + kTermStepMax + 1, 5}, true}).term ==
        kLater);
  const Term next{kLater.number + 1, 5};
  CHECK(bench.feed(PromiseRequest{"j", next, true}).term == next);
}

TEST_CASE("the same order again is acknowledged again and carried out once") {
  Bench bench;
  bench.feed(PromiseRequest{"j", kFirst});
  bench.feed(order(kFirst, 1, Rung::kJoint));
  bench.reach();
  const Standing again = bench.feed(order(kFirst, 1, Rung::kJoint));
  CHECK(again.reached);
  CHECK_FALSE(again.stale);
  CHECK(bench.submitted == 1);
}

TEST_CASE("an order two rungs away is refused, and it stays where it is") {
  Bench bench;
  bench.feed(PromiseRequest{"j", kFirst});
  bench.feed(order(kFirst, 1, Rung::kJoint));
  const Standing answer = bench.feed(order(kFirst, 2, Rung::kNew));
  CHECK(answer.refused_seq == 2);
  CHECK(answer.report.refusal.find("two away") != std::string::npos);
  CHECK(answer.rung == Rung::kJoint);
  CHECK(bench.reach().reached);
  CHECK(bench.submitted == 1);
}

TEST_CASE("a new operation begins only at rest, at the foot, and from the routing in force") {
  Bench bench;
  bench.feed(PromiseRequest{"j", kFirst});
  CHECK(bench.feed(order(kFirst, 1, Rung::kNewTx)).refused_seq == 1);
  Order other = order(kFirst, 2, Rung::kJoint);
  other.operation.before.excluded = {"c"};
  CHECK(bench.feed(other).refused_seq == 2);
  bench.feed(order(kFirst, 3, Rung::kJoint));
  bench.reach();
  CHECK(bench.feed(order(kFirst, 4, Rung::kJoint, 10)).refused_seq == 4);
  CHECK(bench.submitted == 1);
}

TEST_CASE("a refusal by the engine leaves it on the rung before") {
  Bench bench;
  bench.feed(PromiseRequest{"j", kFirst});
  bench.feed(order(kFirst, 1, Rung::kJoint));
  core::RungReport report;
  report.operation = 9;
  report.rung = Rung::kJoint;
  report.refusal = "no device";
  const Standing told = bench.feed(report);
  CHECK(told.refused_seq == 1);
  CHECK(told.rung == Rung::kOld);
  CHECK_FALSE(told.reached);
}

TEST_CASE("after NEWTX was acknowledged a broken path asks for retraction and moves nothing") {
  Bench bench;
  bench.feed(PromiseRequest{"j", kFirst});
  bench.feed(order(kFirst, 1, Rung::kJoint));
  bench.reach();
  bench.feed(order(kFirst, 2, Rung::kNewTx));
  bench.reach();
  core::RungReport report;
  report.operation = 9;
  report.rung = Rung::kNewTx;
  report.refusal = "new is gone";
  const Standing told = bench.feed(report);
  CHECK(told.refused_seq == 2);
  CHECK(told.rung == Rung::kNewTx);
  CHECK(bench.submitted == 2);
}

TEST_CASE("reports of an earlier order are not taken for this one") {
  Bench bench;
  bench.feed(PromiseRequest{"j", kFirst});
  bench.feed(order(kFirst, 1, Rung::kJoint));
  core::RungReport report;
  report.operation = 8;
  report.rung = Rung::kJoint;
  CHECK_FALSE(bench.feed(report).reached);
  report.operation = 9;
  report.rung = Rung::kOld;
  CHECK_FALSE(bench.feed(report).reached);
}

TEST_CASE("who has not joined follows nobody; who joins takes over where the job stands") {
  Bench old;
  old.feed(PromiseRequest{"j", kFirst});
  old.feed(order(kFirst, 1, Rung::kJoint));
  MemberFacts facts;
  facts.job = "j";
  MemberMachine fresh(facts);
  const auto answers = fresh.step(PromiseRequest{"j", kLater}, 0);
  CHECK(std::get<Answer>(answers.at(0)).standing.joining);
  const auto actions = fresh.step(JoinFrom{old.machine.standing(0)}, 0);
  REQUIRE(std::holds_alternative<Adopt>(actions.at(0)));
  CHECK(std::get<Adopt>(actions[0]).order.rung == Rung::kJoint);
  CHECK(fresh.standing(0).term == kFirst);
  CHECK(fresh.standing(0).seq == 1);
}

TEST_CASE("who joins late is brought there by an order, as its engine has begun") {
  Bench old;
  old.feed(PromiseRequest{"j", kFirst});
  old.feed(order(kFirst, 1, Rung::kJoint));
  MemberFacts facts;
  MemberMachine late(facts);
  const auto actions = late.step(JoinFrom{old.machine.standing(0), true}, 0);
  REQUIRE(std::holds_alternative<Submit>(actions.at(0)));
  CHECK(std::get<Submit>(actions[0]).order.rung == Rung::kJoint);
  CHECK_FALSE(late.standing(0).reached);
}

TEST_CASE("a live coordinator keeps others out until its lease or its end, takeovers excepted") {
  Bench bench;
  bench.feed(PromiseRequest{"j", kFirst});
  CHECK(bench.feed(PromiseRequest{"j", kLater}).busy);
  CHECK(bench.machine.standing(0).term == kFirst);
  CHECK(bench.feed(PromiseRequest{"j", kLater}, kCoordinatorLease).term == kLater);
  CHECK(bench.feed(PromiseRequest{"j", {3, 1}, true}, kCoordinatorLease).term == Term{3, 1});
  CHECK_FALSE(bench.feed(LadderEnd{"j", {3, 1}}, kCoordinatorLease).busy);
  CHECK(bench.feed(PromiseRequest{"j", {4, 1}}, kCoordinatorLease).term == Term{4, 1});
}

TEST_CASE("another job's messages are not answered") {
  Bench bench;
  CHECK(bench.machine.step(StandingRequest{"k"}, 0).empty());
  CHECK(bench.machine.step(PromiseRequest{"k", kFirst}, 0).empty());
  Order other = order(kFirst, 1, Rung::kJoint);
  other.job = "k";
  CHECK(bench.machine.step(other, 0).empty());
}

TEST_CASE("a ladder is abandoned while its coordinator has not ended, or left it open") {
  Bench bench;
  CHECK_FALSE(bench.machine.abandoned_since());
  bench.feed(PromiseRequest{"j", kFirst}, 5);
  CHECK(bench.machine.abandoned_since() == 5);
  bench.feed(LadderEnd{"j", kFirst, false}, 6);
  CHECK_FALSE(bench.machine.abandoned_since());
  bench.feed(PromiseRequest{"j", kLater}, 7);
  bench.feed(LadderEnd{"j", kLater, true}, 8);
  CHECK(bench.machine.abandoned_since() == 7);
  CHECK(bench.machine.standing(8).left_open);
  CHECK_FALSE(bench.machine.standing(8).busy);
  // Earlier messages that arrive late.
  bench.feed(LadderEnd{"j", kLater, true, 3}, 8);
  bench.feed(LadderEnd{"j", kLater, false, 2}, 8);
  CHECK(bench.machine.standing(8).left_open);
  MemberFacts facts;
  facts.job = "j";
  MemberMachine fresh(facts);
  fresh.step(JoinFrom{bench.machine.standing(8)}, 9);
  CHECK(fresh.abandoned_since() == 9);
}
