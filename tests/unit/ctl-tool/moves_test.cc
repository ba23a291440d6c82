// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/moves_test.cc -- the rules of `switch` that status shows.
#include "ctl-tool/moves.h"

#include <doctest/doctest.h>

using namespace livebtl;
using control::Standing;
using tool::moves_in_force;

namespace {

Standing standing_on(const std::string& node, const std::string& host) {
  Standing standing;
  standing.node = node;
  standing.host = host;
  return standing;
}

}  // namespace

TEST_CASE("a job that nobody has switched has no rule to tell") {
  CHECK(moves_in_force({}).empty());
  Standing one = standing_on("0000000000000001", "node1");
  one.routing.excluded = {"ofi", "verbs"};  // btlctl list shows those
  CHECK(moves_in_force({&one}).empty());
}

TEST_CASE("rules of the job come before those of nodes, which are named as people name them") {
  Standing one = standing_on("0000000000000001", "node1");
  one.routing.moved = {{"sm", "tcp"}, {"verbs", "tcp"}};
  one.routing.nodes["0000000000000001"].moved = {{"tcp", "ofi"}, {"verbs", "verbs"}};
  one.routing.nodes["00000000000000ff"].moved = {{"sm", "tcp"}};  // no process there answered
  CHECK(moves_in_force({&one}) ==
        "sm to tcp, verbs to tcp, tcp to ofi on node1, verbs stays on node1, "
        "sm to tcp on node:00000000000000ff");
}

TEST_CASE("in the middle of a switch the rules are those of who is furthest") {
  Standing behind = standing_on("0000000000000001", "node1");
  behind.epoch = 2;
  behind.rung = core::Rung::kNewTx;
  Standing ahead = behind;
  ahead.rung = core::Rung::kNew;
  ahead.routing.moved = {{"sm", "tcp"}};
  CHECK(moves_in_force({&behind, &ahead}) == "sm to tcp");
  CHECK(moves_in_force({&ahead, &behind}) == "sm to tcp");
}

TEST_CASE("a host's name that would act on a terminal does not") {
  Standing one = standing_on("0000000000000001", "\x1b[2Jnode");
  one.routing.nodes["0000000000000001"].moved = {{"sm", "tcp"}};
  CHECK(moves_in_force({&one}).find('\x1b') == std::string::npos);
}
