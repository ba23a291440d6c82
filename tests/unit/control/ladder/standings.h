// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/ladder/standings.h -- standings of a job's members, for tests of relays.
#pragma once

#include "control/ladder/node_group.h"

namespace livebtl::test {

using namespace livebtl::control;

inline Operation some_operation() {
  Operation operation;
  operation.id = 7;
  operation.verb = "switch";
  operation.arguments = {"sm", "tcp"};
  operation.after.moved["sm"] = "tcp";
  return operation;
}

inline Order some_order(std::uint64_t seq = 3, Rung rung = Rung::kNewTx) {
  return {"job", {4, 5}, seq, 6, rung, false, some_operation(), "root"};
}

/// What this member says once it has reached the rung that `order` asks for.
inline Standing standing_of(std::uint64_t process, std::uint64_t version,
                            const Order& order = some_order()) {
  Standing standing;
  standing.member = {ProcessId{process}, Incarnation{1}};
  standing.name = "rank " + std::to_string(process) + " on node17";
  standing.rank = static_cast<int>(process);
  standing.node = "0123456789abcdef";
  standing.host = "node17";
  standing.announced = 256;
  standing.term = order.term;
  standing.seq = order.seq;
  standing.epoch = order.epoch;
  standing.version = version;
  standing.rung = order.rung;
  standing.busy = standing.left_open = true;
  standing.operation = order.operation;
  standing.report.operation = order.operation.id;
  standing.report.rung = order.rung;
  standing.report.pairs_moved = static_cast<std::uint32_t>(process % 5);
  standing.transports = {{"sm", "vader", false}, {"tcp", "", false}};
  return standing;
}

inline std::vector<ProcessId> processes(std::uint64_t first, std::uint64_t count) {
  std::vector<ProcessId> list;
  for (std::uint64_t i = 0; i < count; ++i) list.push_back(ProcessId{first + i});
  return list;
}

inline NodeRequest order_for(std::vector<ProcessId> members, const Order& order = some_order()) {
  NodeRequest request = *node_request(order);
  request.members = std::move(members);
  request.described = true;
  return request;
}

inline std::vector<Standing> told_in(const NodeStanding& answer) {
  std::vector<Standing> list;
  for (const StandingGroup& group : answer.groups)
    for (std::size_t i = 0; i < group.members.size(); ++i)
      list.push_back(standing_at(group, i).standing);
  return list;
}

}  // namespace livebtl::test
