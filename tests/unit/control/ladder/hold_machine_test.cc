// SPDX-License-Identifier: BSD-3-Clause
// hold_machine_test.cc -- a hold of a job: either all are parked, or nothing is held; and what was
// not held throughout is never called good.
#include "control/ladder/hold_machine.h"

#include <doctest/doctest.h>

#include "tests/unit/control/ladder/held_job.h"

using namespace livebtl;
using namespace livebtl::control;
using core::HoldState;
using livebtl::test::kId;
using Job = livebtl::test::HeldJob;
using livebtl::test::member;

namespace {

HoldCommand start() { return {"", HoldVerb::kStart, kId, 60'000}; }
HoldCommand renew(std::uint64_t id = 0) { return {"", HoldVerb::kRenew, id, 60'000}; }
HoldCommand check(std::uint64_t id = 0) { return {"", HoldVerb::kCheck, id, 0}; }
HoldCommand end(std::uint64_t id = 0) { return {"", HoldVerb::kEnd, id, 0}; }

bool nothing_is_held(const Job& job) {
  return std::ranges::all_of(
      job.members, [](const auto& item) { return item.second.state == HoldState::kNone; });
}

}  // namespace

TEST_CASE("start parks all, check finds them so, end lets them go") {
  Job job(4);
  const Outcome started = job.run(start());
  CHECK(started.code == ExitCode::kDone);
  CHECK(started.operation == kId);
  CHECK(started.members == 4);
  CHECK(job.progress.back().parked == 4);
  CHECK(job.run(check()).code == ExitCode::kDone);
  CHECK(job.run(check(kId)).code == ExitCode::kDone);
  CHECK(job.run(end()).code == ExitCode::kDone);
  CHECK(nothing_is_held(job));
}

TEST_CASE("what was not held throughout is never called good") {
  for (const HoldState state : {HoldState::kNone, HoldState::kParking, HoldState::kBroken}) {
    CAPTURE(hold_state_name(state));
    Job job(3);
    job.run(start());
    job.members[2].state = state;
    const Outcome checked = job.run(check());
    CHECK(checked.code == ExitCode::kInconsistent);
    CHECK(checked.text.find("rank 1") != std::string::npos);
    CHECK(job.run(end()).code == ExitCode::kInconsistent);
    CHECK(job.members[1].state == HoldState::kNone);
    CHECK(job.members[3].state == HoldState::kNone);
  }
  Job job(3);
  job.run(start());
  CHECK(job.run(check(kId + 1)).code == ExitCode::kInconsistent);
  job.members[3].id = kId + 1;
  CHECK(job.run(check()).code == ExitCode::kInconsistent);
  CHECK(job.run(end(kId)).code == ExitCode::kInconsistent);
  CHECK(job.members[1].state == HoldState::kNone);
  CHECK(job.members[3].state == HoldState::kParked);  // another hold's
}

TEST_CASE("each reason why members were not held throughout is told, of one member") {
  Job job(4);
  job.run(start());
  for (const std::uint64_t sent_to : {1U, 2U}) {
    job.members[sent_to].state = HoldState::kBroken;
    job.members[sent_to].why = "another has sent to it";
  }
  job.members[3].state = HoldState::kBroken;
  job.members[3].why = "its lease ran out";
  const std::string text = job.run(check()).text;
  CHECK(text.find("rank 0 was not held throughout: another has sent to it") != std::string::npos);
  CHECK(text.find("rank 1") == std::string::npos);
  CHECK(text.find("rank 2 was not held throughout: its lease ran out") != std::string::npos);
}

TEST_CASE("a lease begins anew for those alone that were all held throughout") {
  Job job(3);
  CHECK(job.run(renew()).code == ExitCode::kInconsistent);
  CHECK(nothing_is_held(job));  // it parks nobody
  job.run(start());
  CHECK(job.run(renew()).code == ExitCode::kDone);
  CHECK(job.run(renew(kId)).operation == kId);
  CHECK(job.members[2].leases == 4);  // when parked, when sealed, and twice since
  CHECK(job.run(check(kId)).code == ExitCode::kDone);
  CHECK(job.run(renew(kId + 1)).code == ExitCode::kInconsistent);
  job.members[2].refusal = "its lease ran out";
  CHECK(job.run(renew()).code == ExitCode::kInconsistent);
  CHECK(job.members[1].state == HoldState::kParked);  // its end says why the hold is of no use
  job.members[2].refusal.clear();
  job.members[4] = {};  // it was not held with the others, and must not seem so from now on
  CHECK(job.run(renew()).code == ExitCode::kInconsistent);
  CHECK(job.members[4].state == HoldState::kNone);
  CHECK(job.run(check()).code == ExitCode::kInconsistent);
}

TEST_CASE("who appears while a lease is renewed was not held with the others") {
  Job job(3);
  job.run(start());
  int scans = 0;
  job.on_scan = [&] {
    if (++scans == 3) job.members[4] = {};
  };
  CHECK(job.run(renew()).code == ExitCode::kInconsistent);
  CHECK(scans >= 3);
  CHECK(job.members[4].state == HoldState::kNone);
}

TEST_CASE("looks that take long leave time to hear the answers") {
  Job job(3);
  int scans = 0;
  job.on_scan = [&] { ++scans; };
  job.scan_takes = 300 * kMillisecond;
  CHECK(job.run(start()).code == ExitCode::kDone);
  CHECK(scans <= 5);
}

TEST_CASE("if one refuses, nothing is held") {
  Job job(3);
  job.members[2].refusal = "a switch is at work";
  const Outcome outcome = job.run(start());
  CHECK(outcome.code == ExitCode::kBusy);
  CHECK(outcome.text.find("rank 1 refused: a switch is at work") != std::string::npos);
  CHECK(nothing_is_held(job));
}

TEST_CASE("if one cannot be parked in time, nothing is held, and it is named") {
  Job job(3);
  job.members[3].slow = true;
  const Outcome outcome = job.run(start());
  CHECK(outcome.code == ExitCode::kRetracted);
  REQUIRE(outcome.stragglers.size() == 1);
  CHECK(outcome.stragglers[0].name == "rank 2");
  CHECK(nothing_is_held(job));
}

TEST_CASE("who falls silent is named, and its lease is left to end it") {
  Job job(3);
  job.run(start());
  job.members[1].silent = true;
  const Outcome outcome = job.run(end());
  CHECK(outcome.code == ExitCode::kRetracted);
  REQUIRE(outcome.stragglers.size() == 1);
  CHECK(outcome.stragglers[0].member == member(1));
  CHECK(job.members[2].state == HoldState::kNone);
  CHECK(job.members[3].state == HoldState::kNone);
}

TEST_CASE("who was held with the others and has left, or was there and is not held, is missed") {
  Job job(3);
  job.run(start());
  const auto left = job.members.extract(2);
  const Outcome checked = job.run(check());
  CHECK(checked.code == ExitCode::kMembersMissing);  // nothing proves that it has gone
  job.announced = 2;
  CHECK(job.run(check()).code == ExitCode::kInconsistent);
  CHECK(job.run(end()).code == ExitCode::kInconsistent);
  CHECK(nothing_is_held(job));
}

TEST_CASE("a hold that ran out before the last was parked is not said to hold") {
  Job job(2);
  int scans = 0;
  job.on_scan = [&] {
    if (++scans != 2) return;  // all are parked; now the first is not any more
    job.members[1].refusal = "broken";
    job.members[1].state = HoldState::kBroken;
  };
  CHECK(job.run(start()).code == ExitCode::kBusy);
  CHECK(job.members[2].state == HoldState::kNone);
}

TEST_CASE("a job whose members all leave while it is sealed is not said to be held") {
  Job job(2);
  job.on_scan = [&] {
    const bool parked = std::ranges::all_of(
        job.members, [](const auto& item) { return item.second.state == HoldState::kParked; });
    if (!parked) return;
    for (const auto& [number, one] : std::exchange(job.members, {})) job.ended.push_back(number);
  };
  CHECK(job.run(start()).code == ExitCode::kNotFound);
}

TEST_CASE("a job of which members are missing is not held") {
  Job job(2, 3);
  const Outcome outcome = job.run(start());
  CHECK(outcome.code == ExitCode::kMembersMissing);
  CHECK(outcome.missing_ranks == std::vector<int>{2});
  CHECK(nothing_is_held(job));
  Job none(0);
  CHECK(none.run(start()).code == ExitCode::kNotFound);
}

TEST_CASE("one that is still starting is waited for, and one that appears meanwhile is held too") {
  Job job(3);
  job.members[3].hidden = true;
  int scans = 0;
  job.on_scan = [&] {
    if (++scans == 5) job.members[3].hidden = false;
  };
  CHECK(job.run(start()).code == ExitCode::kDone);
  CHECK(job.members[3].state == HoldState::kParked);

  Job growing(2);
  growing.on_scan = [&] {
    if (growing.members[2].state == HoldState::kParked) growing.members.try_emplace(3);
  };
  CHECK(growing.run(start()).code == ExitCode::kDone);
  CHECK(growing.members[3].state == HoldState::kParked);
}

TEST_CASE("an answer to an older question changes nothing") {
  HoldMachine machine({"job", HoldVerb::kCheck, 0, 0}, 0);
  machine.step(Tick{}, 0);
  machine.step(MembersFound{1, {member(1), member(2)}}, 0);
  const auto answer = [&](std::uint64_t who, std::uint64_t number, HoldState state) {
    HoldAnswer said{member(who), "rank", static_cast<int>(who) - 1, 2, number, {}};
    said.report.state = state;
    said.report.id = kId;
    machine.step(said, 0);
  };
  answer(1, 99, HoldState::kParked);  // to a question that was never asked
  answer(1, 2, HoldState::kBroken);
  answer(1, 1, HoldState::kParked);
  answer(2, 2, HoldState::kParked);
  machine.step(MembersFound{2, {member(1), member(2)}}, 0);
  REQUIRE(machine.done());
  CHECK(machine.outcome().code == ExitCode::kInconsistent);
}

TEST_CASE("a dry run changes nothing") {
  Job job(2);
  HoldCommand would = start();
  would.dry_run = true;
  CHECK(job.run(would).code == ExitCode::kDone);
  CHECK(nothing_is_held(job));
  job.run(start());
  CHECK(job.run(would).code == ExitCode::kBusy);
  HoldCommand would_end = end();
  would_end.dry_run = true;
  CHECK(job.run(would_end).text.find("2 of 2") != std::string::npos);
  CHECK(job.members[1].state == HoldState::kParked);
}
