// SPDX-License-Identifier: BSD-3-Clause
// hold_rivals_test.cc -- `job restored` and another command at the same time: one is carried out
// completely at each message of the other.
#include <doctest/doctest.h>

#include "tests/unit/control/ladder/restored_job.h"

using namespace livebtl;
using namespace livebtl::control;
using livebtl::test::all_go_on_as;
using livebtl::test::held;
using livebtl::test::kId;
using livebtl::test::kNow;
using livebtl::test::restored;
using Job = livebtl::test::HeldJob;

namespace {

constexpr Incarnation kOther{1005};

/// Returns the first one's exit code when the second is carried out at that message of the first.
ExitCode with_a_rival(std::uint32_t claimer, int message) {
  Job job = held(3);
  HoldCommand first = restored(), second = restored();
  first.claimer = 2;
  second.claimer = claimer;
  second.incarnation = kOther;
  int sent = 0;
  job.on_send = [&] {
    if (++sent == message) CHECK(job.run(second).code == ExitCode::kDone);
  };
  const Outcome outcome = job.run(first);
  const Incarnation one = job.members[1].incarnation;
  CHECK((one == kNow || one == kOther));
  CHECK(all_go_on_as(job, one));
  if (outcome.code == ExitCode::kBusy) CHECK(outcome.text.find("claimed") != std::string::npos);
  return outcome.code;
}

}  // namespace

TEST_CASE("a hold that is ended while it is restored is either: never some raised, others let go") {
  const HoldCommand end{"", HoldVerb::kEnd, kId, 0};
  int both_ways[2] = {0, 0};
  for (const bool ends_within : {true, false}) {  // one whole command, at each message of the other
    for (int message = 1; message <= 16; ++message) {
      CAPTURE(ends_within);
      CAPTURE(message);
      Job job = held(3);
      int sent = 0;
      job.on_send = [&] {
        if (++sent != message) return;
        (void)job.run(ends_within ? end : restored());
      };
      (void)job.run(ends_within ? restored() : end);
      const bool restored_all = all_go_on_as(job, kNow);
      const bool raised_none = std::ranges::all_of(
          job.members, [](const auto& item) { return item.second.restored_from == 0; });
      CHECK(restored_all != raised_none);
      ++both_ways[restored_all ? 1 : 0];
    }
  }
  CHECK(both_ways[0] > 0);
  CHECK(both_ways[1] > 0);
}

TEST_CASE(
    "of two restores at the same time one goes on, and nobody is raised to two incarnations") {
  int done = 0, outdone = 0;
  for (const std::uint32_t claimer : {1U, 3U}) {  // below and above the other's
    for (int message = 1; message <= 16; ++message) {
      CAPTURE(claimer);
      CAPTURE(message);
      const ExitCode code = with_a_rival(claimer, message);
      done += code == ExitCode::kDone ? 1 : 0;
      outdone += code == ExitCode::kBusy ? 1 : 0;
    }
  }
  CHECK(done > 0);
  CHECK(outdone > 0);
  CHECK(done + outdone == 32);
}
