// SPDX-License-Identifier: BSD-3-Clause
// hold_messages_test.cc -- questions and answers about a hold, through JSON.
#include "tests/unit/control/wire/through.h"

using namespace livebtl;
using namespace livebtl::control;
using livebtl::test::through;

TEST_CASE("what is asked and said about a hold comes out as it went in") {
  const auto request =
      through(HoldRequest{"j", HoldAction::kStart, 0x51, 60'000, 4, 7, Incarnation{2}});
  CHECK(request.action == HoldAction::kStart);
  CHECK(request.id == 0x51);
  CHECK(request.lease_ms == 60'000);
  CHECK(request.members == 4);
  CHECK(request.number == 7);
  CHECK(request.incarnation == Incarnation{2});
  through(HoldRequest{"j", HoldAction::kAsk, 0, 0, 0, 1});
  HoldAnswer said{{ProcessId{7}, {}}, "rank 6", 6, 8, 7, {}};
  said.report = {
      0x51,  core::HoldState::kParking, 3, 59'000, true, 0x52, Incarnation{9}, 0x50, "broken",
      "why", {"rank 1: a frame"}};
  const auto answer = through(said);
  CHECK(answer.number == 7);
  CHECK(answer.announced == 8);
  CHECK(answer.report.state == core::HoldState::kParking);
  CHECK(answer.report.left_ms == 59'000);
  CHECK(answer.report.claimed);
  CHECK(answer.report.claim == 0x52);
  CHECK(answer.report.members == 3);
  CHECK(answer.report.incarnation == Incarnation{9});
  CHECK(answer.report.restored_from == 0x50);
  CHECK(answer.report.why == "broken");
  CHECK(answer.report.refusal == "why");
  CHECK(answer.report.waiting == said.report.waiting);
}

TEST_CASE("an order to be raised says to what, and under which claim") {
  const auto raise =
      through(HoldRequest{"j", HoldAction::kRestore, 1, 0, 0, 1, Incarnation{9}, 0x52});
  CHECK(raise.incarnation == Incarnation{9});
  CHECK(raise.claim == 0x52);
}

TEST_CASE("what makes no sense about a hold is refused") {
  constexpr Incarnation kOne{1};
  CHECK(decode(*encode(HoldRequest{"j", HoldAction::kStart, 1, 60'000, 0, 1, kOne})));
  CHECK_FALSE(decode(*encode(HoldRequest{"j", HoldAction::kStart, 1, 60'000, 0, 1})));
  CHECK_FALSE(decode(*encode(HoldRequest{"j", HoldAction::kStart, 0, 60'000, 0, 1, kOne})));
  CHECK_FALSE(decode(*encode(HoldRequest{"j", HoldAction::kRestore, 1, 0, 0, 1})));
  CHECK_FALSE(decode(*encode(HoldRequest{"j", HoldAction::kRestore, 0, 0, 0, 1, Incarnation{9}})));
  CHECK(decode(*encode(HoldRequest{"j", HoldAction::kClaim, 1, 60'000, 0, 1})));
  CHECK_FALSE(decode(*encode(HoldRequest{"j", HoldAction::kClaim, 1, 0, 0, 1})));
  CHECK_FALSE(decode(*encode(HoldRequest{"j", HoldAction::kEnd, 0, 0, 0, 1})));
  CHECK_FALSE(decode(*encode(HoldRequest{"j", HoldAction::kStart, 1, 0, 0, 1, kOne})));
  CHECK_FALSE(
      decode(*encode(HoldRequest{"j", HoldAction::kStart, 1, kHoldLeaseMaxMs + 1, 0, 1, kOne})));
  CHECK_FALSE(decode(R"({"schema":"livebtl.hold-request/1","job":"j","action":"stop","id":"0x1",)"
                     R"("lease_ms":1,"members":0,"number":"0x1"})"));
}
