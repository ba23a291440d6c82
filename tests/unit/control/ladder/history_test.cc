// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/ladder/history_test.cc -- what a member remembers of its switches.
#include "control/ladder/history.h"

#include <doctest/doctest.h>

using namespace livebtl;
using namespace livebtl::control;

namespace {

Order order_to(std::uint64_t operation, Rung rung, bool undoing = false,
               const std::string& by = "root") {
  Order order;
  order.operation.id = operation;
  order.operation.verb = "switch";
  order.operation.arguments = {"sm", "tcp"};
  order.rung = rung;
  order.undoing = undoing;
  order.by = by;
  return order;
}

Standing standing_on(const Order& order, bool reached, const std::string& waits = "") {
  Standing standing;
  standing.operation = order.operation;
  standing.rung = order.rung;
  standing.reached = reached;
  if (!waits.empty()) standing.report.waiting = {waits};
  return standing;
}

}  // namespace

TEST_CASE("each rung is remembered with its times, and what it waited for") {
  History history;
  const Order joint = order_to(1, Rung::kJoint), newtx = order_to(1, Rung::kNewTx),
              top = order_to(1, Rung::kNew);
  history.ordered(joint, 100, 5'000);
  history.stands(standing_on(joint, true), 130);
  history.ordered(newtx, 200, 5'100);
  history.stands(standing_on(newtx, false, "the marker of rank 2"), 210);
  CHECK(history.switches().back().end == SwitchEnd::kUnderWay);
  history.stands(standing_on(newtx, true), 260);
  history.ordered(top, 300, 5'200);
  history.stands(standing_on(top, true), 301);
  REQUIRE(history.switches().size() == 1);
  const SwitchRecord& record = history.switches().back();
  CHECK(record.began_unix_ns == 5'000);
  CHECK(record.ordered_by == "root");
  CHECK(record.finished_by.empty());
  CHECK(record.end == SwitchEnd::kDone);
  REQUIRE(record.rungs.size() == 3);
  CHECK(record.rungs[0].reached_ns == 30);
  CHECK(record.rungs[1].ordered_ns == 100);
  CHECK(record.rungs[1].reached_ns == 160);
  CHECK(record.rungs[1].waited_for == "the marker of rank 2");
  CHECK(record.rungs[2].reached_ns == 201);
}

TEST_CASE("who finishes what another began is remembered beside that one") {
  History history;
  const Order joint = order_to(1, Rung::kJoint, false, "root on a"),
              back = order_to(1, Rung::kOld, true, "the job itself");
  history.ordered(joint, 0, 1);
  history.stands(standing_on(joint, false, "rank 1"), 10);
  history.ordered(back, 20, 2);
  history.stands(standing_on(back, true), 25);
  const SwitchRecord& record = history.switches().back();
  CHECK(record.ordered_by == "root on a");
  CHECK(record.finished_by == "the job itself");
  CHECK(record.end == SwitchEnd::kTakenBack);
  CHECK_FALSE(record.rungs[0].reached);
  CHECK(record.rungs[1].undoing);
}

TEST_CASE("a refusal is remembered, and the newest switches alone") {
  History history;
  for (std::uint64_t id = 1; id <= 2 * kSwitchesKept; ++id) {
    const Order joint = order_to(id, Rung::kJoint);
    history.ordered(joint, static_cast<TimeNs>(id), id);
    Standing refusing = standing_on(joint, false);
    refusing.report.refusal = "no device";
    history.stands(refusing, static_cast<TimeNs>(id) + 1);
  }
  CHECK(history.switches().size() == kSwitchesKept);
  CHECK(history.switches().front().operation == kSwitchesKept + 1);
  CHECK(history.switches().back().end == SwitchEnd::kRefused);
  CHECK(history.switches().back().refusal == "no device");
}

TEST_CASE("what was refused and taken back keeps its reason, and has moved no pair") {
  History history;
  const Order joint = order_to(1, Rung::kJoint), back = order_to(1, Rung::kOld, true);
  history.ordered(joint, 0, 1);
  Standing refusing = standing_on(joint, false);
  refusing.report.refusal = "no device";
  refusing.report.pairs_moved = 3;
  history.stands(refusing, 1);
  history.ordered(back, 2, 1);
  Standing returned = standing_on(back, true);
  returned.report.pairs_moved = 3;
  history.stands(returned, 3);
  history.stands(returned, 4);  // it may be asked any number of times
  CHECK(history.switches().back().end == SwitchEnd::kTakenBack);
  CHECK(history.switches().back().refusal == "no device");
  CHECK(history.switches().back().pairs_moved == 0);
  history.ordered(joint, 4, 1);  // by resume
  CHECK(history.switches().back().refusal.empty());
}

TEST_CASE("a report about another switch changes nothing, and rungs are bounded") {
  History history;
  for (int i = 0; i < 100; ++i)
    history.ordered(order_to(1, i % 2 == 0 ? Rung::kJoint : Rung::kOld, i % 2 != 0), i, 1);
  history.stands(standing_on(order_to(2, Rung::kOld), true), 200);
  CHECK(history.switches().size() == 1);
  CHECK(history.switches().back().rungs.size() == kRungsKept);
  CHECK(history.switches().back().end == SwitchEnd::kUnderWay);
}
