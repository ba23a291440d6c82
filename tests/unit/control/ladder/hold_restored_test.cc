// SPDX-License-Identifier: BSD-3-Clause
// hold_restored_test.cc -- `job restored`: what was snapshotted together becomes one incarnation,
// what was not is named and left alone, and the next call finishes what a killed one began.
#include <doctest/doctest.h>

#include "control/ladder/hold_machine.h"
#include "tests/unit/control/ladder/restored_job.h"

using namespace livebtl;
using namespace livebtl::control;
using core::HoldState;
using livebtl::test::all_go_on_as;
using livebtl::test::held;
using livebtl::test::kId;
using livebtl::test::kNow;
using livebtl::test::restored;
using Job = livebtl::test::HeldJob;

namespace {

void become(Job::One& one, HoldState state, const char* why) {
  one.state = state;
  one.why = why;
}

struct Misfit {
  const char* what;
  void (*spoil)(Job::One&);
  const char* says;
};
const Misfit kMisfits[] = {
    {"its peers go on, it is of a snapshot of before", [](Job::One& one) { one = {}; },
     "rank 1 is not held"},
    {"of another set", [](Job::One& one) { one.id = kId + 1; }, "rank 1 is held by another, 0x52"},
    {"its lease ran out", [](Job::One& one) { become(one, HoldState::kBroken, "its lease"); },
     "rank 1 was not held throughout: its lease"},
    {"its frames were on their way", [](Job::One& one) { one.state = HoldState::kParking; },
     "rank 1 still has frames on their way"},
    {"of a hold of other members", [](Job::One& one) { one.members = 2; },
     "rank 1 was held as one of 2 processes, and now there are 3"},
    {"a copy", [](Job::One& one) { become(one, HoldState::kFenced, "fenced out"); },
     "rank 1: fenced out"},
};

}  // namespace

TEST_CASE("a set that was held together is raised and let go on") {
  Job job = held(4);
  const Outcome outcome = job.run(restored());
  CHECK(outcome.code == ExitCode::kDone);
  CHECK_FALSE(outcome.already);
  CHECK(outcome.members == 4);
  CHECK(outcome.operation == kId);
  CHECK(all_go_on_as(job, kNow));
}

TEST_CASE("once more is already so, with and without the id") {
  Job job = held(3);
  REQUIRE(job.run(restored()).code == ExitCode::kDone);
  for (const std::uint64_t id : {std::uint64_t{0}, kId}) {
    const Outcome again = job.run(restored(id));
    CHECK(again.code == ExitCode::kDone);
    CHECK(again.already);
  }
  CHECK(all_go_on_as(job, kNow));
  CHECK(job.run(restored(kId + 1)).code == ExitCode::kInconsistent);
}

TEST_CASE("who was spawned since then does not change that; who has another past does") {
  Job job = held(2);
  REQUIRE(job.run(restored()).code == ExitCode::kDone);
  job.announced = 3;
  for (const Incarnation spawned : {Incarnation{}, kNow}) {
    job.members[3] = {};
    job.members[3].incarnation = spawned;
    const Outcome again = job.run(restored());
    CHECK(again.code == ExitCode::kDone);
    CHECK(again.already);
  }
  job.members[3].incarnation = Incarnation{1};
  CHECK(job.run(restored()).code == ExitCode::kInconsistent);
}

TEST_CASE("a hold makes those that have no incarnation one of the job's") {
  Job job = held(2);
  for (const auto& [number, one] : job.members) CHECK(one.incarnation == Incarnation{1});
  REQUIRE(job.run(restored()).code == ExitCode::kDone);
  job.announced = 3;
  job.members[3] = {};
  REQUIRE(job.run({"", HoldVerb::kStart, kId + 1, 60'000}).code == ExitCode::kDone);
  for (const auto& [number, one] : job.members) CHECK(one.incarnation == kNow);
}

TEST_CASE("the incarnation rises above every one that is known") {
  Job job = held(3);
  job.members[2].incarnation = Incarnation{5000};
  CHECK(job.run(restored()).code == ExitCode::kDone);
  CHECK(all_go_on_as(job, Incarnation{5001}));
}

TEST_CASE("what does not fit together is named, and left as it is") {
  for (const Misfit& each : kMisfits) {
    CAPTURE(each.what);
    Job job = held(3);
    each.spoil(job.members[2]);
    const auto before = job.members[2].state;
    const Outcome outcome = job.run(restored());
    CHECK(outcome.code == ExitCode::kInconsistent);
    CHECK(outcome.text.find("job restored: " + std::string(each.says)) == 0);
    CHECK(job.members[1].state == HoldState::kParked);
    CHECK(job.members[1].incarnation == Incarnation{1});
    CHECK(job.members[2].state == before);
    CHECK(job.members[3].state == HoldState::kParked);
  }
}

TEST_CASE("one that is missing is waited for, and then nothing is changed") {
  Job job = held(3);
  job.members[3].hidden = true;
  const Outcome outcome = job.run(restored());
  CHECK(outcome.code == ExitCode::kMembersMissing);
  CHECK(outcome.missing_ranks == std::vector<int>{2});
  CHECK(job.members[1].state == HoldState::kParked);
  CHECK(job.members[1].incarnation == Incarnation{1});
}

TEST_CASE("who was killed in the middle is finished by the next, to the same incarnation") {
  for (const HoldState state : {HoldState::kParked, HoldState::kBroken, HoldState::kFenced}) {
    CAPTURE(hold_state_name(state));
    Job job = held(3);
    job.members[1].incarnation = Incarnation{900};
    job.members[1].restored_from = kId;
    job.members[3].state = state;  // its lease may have run out since
    CHECK(job.run(restored()).code == ExitCode::kDone);
    CHECK(all_go_on_as(job, Incarnation{900}));
  }
  Job job = held(3);
  job.members[1].incarnation = Incarnation{900};
  job.members[1].restored_from = kId;
  job.members[2].id = 0;
  job.members[2].state = HoldState::kNone;
  CHECK(job.run(restored()).code == ExitCode::kInconsistent);
}

TEST_CASE("a dry run changes nothing") {
  Job job = held(3);
  HoldCommand command = restored();
  command.dry_run = true;
  const Outcome outcome = job.run(command);
  CHECK(outcome.code == ExitCode::kDone);
  CHECK(outcome.text.find("3 processes") != std::string::npos);
  CHECK(job.members[1].state == HoldState::kParked);
  CHECK(job.members[1].incarnation == Incarnation{1});
}

TEST_CASE("who refuses to be raised is named") {
  Job job = held(3);
  job.on_scan = [&] { job.members[2].refusal = "it is odd"; };
  const Outcome outcome = job.run(restored());
  CHECK(outcome.code == ExitCode::kInconsistent);
  CHECK(outcome.text.find("rank 1") != std::string::npos);
}

TEST_CASE("a hold is not ended while a restore from it is half done") {
  for (const std::uint64_t id : {std::uint64_t{0}, kId}) {
    Job job = held(3);
    job.members[1].incarnation = Incarnation{900};
    job.members[1].restored_from = kId;
    const Outcome outcome = job.run({"", HoldVerb::kEnd, id, 0});
    CHECK(outcome.code == ExitCode::kBusy);
    CHECK(outcome.text.find("job restored") != std::string::npos);
    CHECK(job.members[2].state == HoldState::kParked);
    for (auto& [number, one] : job.members) one.restored_from = kId;
    CHECK(job.run({"", HoldVerb::kEnd, id, 0}).code == ExitCode::kDone);
  }
}

TEST_CASE("who was killed before the first was raised leaves a claim, that only a restore ends") {
  Job job = held(3);
  job.members[2].claimed = true;
  const Outcome outcome = job.run({"", HoldVerb::kEnd, kId, 0});
  CHECK(outcome.code == ExitCode::kBusy);
  CHECK(outcome.text.find("job restored") != std::string::npos);
  for (const auto& [number, one] : job.members) CHECK(one.state == HoldState::kParked);
  CHECK(job.run(restored()).code == ExitCode::kDone);
  CHECK(all_go_on_as(job, kNow));
}

TEST_CASE("who was restored, and is held by another hold now, does not go on") {
  Job job = held(3);
  REQUIRE(job.run(restored()).code == ExitCode::kDone);
  REQUIRE(job.run({"", HoldVerb::kStart, kId + 1, 60'000}).code == ExitCode::kDone);
  for (const bool dry_run : {true, false}) {
    HoldCommand command = restored(kId);
    command.dry_run = dry_run;
    const Outcome outcome = job.run(command);
    CHECK(outcome.code == ExitCode::kInconsistent);
    CHECK(outcome.text.find("0x52") != std::string::npos);
  }
  CHECK(job.members[1].state == HoldState::kParked);
}
