// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/wire/full_node_messages.h -- messages to nodes' relays, with every field set.
#pragma once

#include "tests/unit/control/wire/full_standing.h"

namespace livebtl::test {

inline NodeRequest full_node_request() {
  const Order order{"job-1", {3, 4}, 9, 4, Rung::kNew, true, full_operation(), "root on node17"};
  return {NodeQuestion::kOrder,
          order,
          true,
          true,
          true,
          true,
          {ProcessId{77}},
          {{"tcp://10.0.0.1:5", {ProcessId{78}}}}};
}

inline NodeStanding full_node_standing() {
  StandingGroup group;
  group.shared = full_standing();
  group.shared.member.process = ProcessId{};
  group.described = true;
  group.members = {ProcessId{77}, ProcessId{78}};
  group.versions = {0xffffffffffffffffULL, 2};
  group.ranks = {3, -1};
  group.names = {"rank 3", "rank 4"};
  group.pairs_moved = {5, 6};
  group.pairs_left = {7, 8};
  group.notes = {{1, crowd("pair"), crowd("waiting")}};
  return {9, 8, {ProcessId{79}}, {ProcessId{80}}, {group}};
}

}  // namespace livebtl::test
