// SPDX-License-Identifier: BSD-3-Clause
// hold_of_nobody_test.cc -- hold commands while nobody is held: the state, and what to do next.
#include <doctest/doctest.h>

#include "control/ladder/hold_machine.h"
#include "tests/unit/control/ladder/held_job.h"

using namespace livebtl;
using namespace livebtl::control;
using core::HoldState;
using livebtl::test::kId;
using Job = livebtl::test::HeldJob;

namespace {

HoldCommand command(HoldVerb verb) {
  return {"", verb, verb == HoldVerb::kStart ? kId : 0, 60'000};
}

struct Case {
  HoldVerb verb;
  const char* says;
};
const Case kCases[] = {
    {HoldVerb::kEnd,
     "hold end: no process is held, and the job runs; there is nothing to end. Of a hold that "
     "ended before, its `hold end` said whether it was ever broken"},
    {HoldVerb::kCheck,
     "hold check: no process is held, and the job runs; snapshots taken now do not"},
    {HoldVerb::kRenew,
     "hold renew: no process is held, and the job runs; there is no lease to renew; `btlctl hold "
     "start`"},
    {HoldVerb::kRestored,
     "job restored: no process is held, and the job runs; there is nothing to continue"},
};

void check_says(Job& job, const Case& each) {
  const Outcome outcome = job.run(command(each.verb));
  CHECK(outcome.code == ExitCode::kInconsistent);
  CHECK(outcome.text.find(each.says) == 0);
  CHECK(outcome.text.find("rank") == std::string::npos);
}

}  // namespace

TEST_CASE("where nobody is held that is said, and what to do, before a hold and behind its end") {
  for (const Case& each : kCases) {
    CAPTURE(each.says);
    Job job(3);
    check_says(job, each);
    REQUIRE(job.run(command(HoldVerb::kStart)).code == ExitCode::kDone);
    REQUIRE(job.run(command(HoldVerb::kEnd)).code == ExitCode::kDone);
    check_says(job, each);
  }
}

TEST_CASE("one that is not held among others that are is named") {
  for (const Case& each : kCases) {
    CAPTURE(each.says);
    Job job(3);
    job.run(command(HoldVerb::kStart));
    job.members[2] = {};
    CHECK(job.run(command(each.verb)).text.find("rank 1 is not held") != std::string::npos);
  }
}

TEST_CASE("the end of a broken hold says so, and the next one that nobody is held") {
  Job job(2);
  job.run(command(HoldVerb::kStart));
  job.members[1].state = HoldState::kBroken;
  job.members[1].why = "its lease ran out";
  CHECK(job.run(command(HoldVerb::kEnd)).text.find("this hold is over; but rank 0 was not held") !=
        std::string::npos);
  CHECK(job.run(command(HoldVerb::kEnd)).text.find("there is nothing to end") != std::string::npos);
}
