// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/perf/both_test.cc -- which of two ended processes decides the program's exit code.
#include "perf/both.h"

#include <doctest/doctest.h>

using namespace livebtl;
using namespace livebtl::perf;

namespace {

ExitCode code_of(ExitCode measuring, ExitCode other) {
  const Ends ends{RankEnd{measuring, 0}, RankEnd{other, 0}};
  return ends[rank_that_knows(ends)].code;
}

}  // namespace

TEST_CASE("the rank that measures decides, unless the other one alone knows what was wrong") {
  constexpr auto kMissing = ExitCode::kMembersMissing;
  CHECK(code_of(ExitCode::kDone, ExitCode::kDone) == ExitCode::kDone);
  // Only rank 1 receives, and finds a changed message; rank 0 loses its peer, or waits in vain.
  CHECK(code_of(kMissing, ExitCode::kInconsistent) == ExitCode::kInconsistent);
  CHECK(code_of(kMissing, ExitCode::kNotPermitted) == ExitCode::kNotPermitted);
  CHECK(code_of(kMissing, kMissing) == kMissing);
  CHECK(code_of(kMissing, ExitCode::kDone) == kMissing);
  CHECK(code_of(ExitCode::kInconsistent, kMissing) == ExitCode::kInconsistent);
  CHECK(code_of(ExitCode::kRefused, ExitCode::kInconsistent) == ExitCode::kRefused);
  CHECK(code_of(ExitCode::kDone, ExitCode::kUsage) == ExitCode::kUsage);
  CHECK(rank_that_knows({RankEnd{kMissing, 9}, RankEnd{ExitCode::kRefused, 0}}) == 0);
  CHECK(rank_that_knows({RankEnd{kMissing, 0}, RankEnd{kMissing, 9}}) == 0);
  CHECK(rank_that_knows({RankEnd{ExitCode::kDone, 0}, RankEnd{kMissing, 9}}) == 1);
}

TEST_CASE("an end is told with its rank, and its signal or its code") {
  CHECK(end_text({ExitCode::kMembersMissing, 9}, 1) ==
        "the process of rank 1 was ended by signal 9");
  CHECK(end_text({ExitCode::kInconsistent, 0}, 1).find("code 8 (inconsistent)") !=
        std::string::npos);
}
