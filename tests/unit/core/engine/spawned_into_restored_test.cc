// SPDX-License-Identifier: BSD-3-Clause
// Processes that join a job restored from snapshots become part of it, whichever process they meet
// first.
#include "tests/unit/core/engine/restored.h"

using namespace livebtl;
using namespace livebtl::test;

TEST_CASE("a process that joins a restored job becomes one of it") {
  for (const bool joins_first : {true, false}) {  // it dials, or is dialled
    CAPTURE(joins_first);
    Rig rig(2, kinds_of({"tcp"}));
    restore_all(rig);
    rig.open_ports();
    rig.join(kinds_of({"tcp"}), {});
    const std::size_t from = joins_first ? 2 : 0;
    say(rig, from, 2 - from);
    CHECK(rig.engines[2]->status().incarnation == kNext);
    rig.ports.clear();
  }
}

TEST_CASE("processes that are spawned into a restored job may talk among themselves first") {
  for (const auto& names : {std::vector<std::string>{"tcp"}, {"sm"}}) {
    CAPTURE(names);
    Rig rig(2, kinds_of(names));
    restore_all(rig);
    rig.open_ports();
    for (int i = 0; i < 3; ++i) rig.join(kinds_of(names), {});
    for (const std::size_t other : {3U, 4U}) {
      say(rig, 2, other);
      say(rig, other, 2);
    }
    CHECK(rig.engines[2]->status().incarnation == Incarnation{});
    say(rig, 2, 0);
    say(rig, 1, 3);
    for (const std::size_t i : {2U, 3U}) CHECK(rig.engines[i]->status().incarnation == kNext);
    // One has met nobody of the job yet, and learns it from the others or by being held.
    REQUIRE(rig.engines[4]->hold({kHold + 1, kLong, 0, kNext}).refusal == "");
    CHECK(rig.engines[4]->status().incarnation == kNext);
    rig.engines[4]->end_hold(kHold + 1);
    for (const std::size_t from : {0U, 1U, 2U, 3U}) say(rig, from, 4);
    for (auto& engine : rig.engines) {
      CHECK(lost_peers(*engine) == 0);
      CHECK(engine->hold_report().state == HoldState::kNone);
    }
    rig.ports.clear();
  }
}
