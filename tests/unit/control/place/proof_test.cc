// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/place/proof_test.cc -- what in a job's directory proves that a process has
// ended, when it may have been restored on another node.
#include <doctest/doctest.h>

#include <optional>

#include "control/client/discovery.h"
#include "tests/unit/control/agent/scratch.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;

namespace {

void begin(const std::string& directory, RunId run) {
  auto opened = RunRegister::open(directory, true);
  REQUIRE(opened);
  REQUIRE(opened->begin(run));
}

/// Leaves the card of a process that has ended without a word; `proof`: somebody noted its end.
void leave_card(const std::string& directory, MemberCard card, bool proof) {
  card.mark = own_mark();
  card.node = "0123456789abcdef";
  auto file = MemberFile::publish(directory, card);
  REQUIRE(file);
  if (proof) file->leave();
}

bool proved(const std::string& directory) {
  return proved_gone(directory, ::geteuid(), ProcessId{1});
}

}  // namespace

TEST_CASE("what is left of a run proves the end of its own processes, and of no copies") {
  for (const bool proof : {false, true}) {
    CAPTURE(proof);
    Scratch scratch;
    const std::string directory = scratch.path();
    begin(directory, RunId{1});
    MemberCard card;
    card.member = {ProcessId{1}, Incarnation{1}};
    card.run = RunId{1};
    leave_card(directory, card, proof);
    CHECK(proved(directory));
    begin(directory, RunId{2});  // as a restore puts back another node's register
    CHECK_FALSE(proved(directory));
  }
  for (const bool proof : {false, true}) {
    CAPTURE(proof);
    Scratch scratch;
    begin(scratch.path(), RunId{1});
    MemberCard copy;
    copy.member = {ProcessId{1}, Incarnation{1}};
    copy.run = RunId{1};
    copy.left_behind = true;
    leave_card(scratch.path(), copy, proof);
    CHECK_FALSE(proved(scratch.path()));
  }
}
