// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/network/sim_network_faults.cc -- what breaks the simulated wires.
#include <algorithm>

#include "tests/sim/network/sim_network.h"

namespace livebtl::sim {

void SimNetwork::cut_wire(Half& half) {
  const std::size_t survivors = random_.below(half.wire.size() + 1);
  counts_.note(Fault::kDrop, half.wire.size() - survivors);
  half.wire.resize(survivors);
}

void SimNetwork::sever(Connection& connection, int blind) {
  connection.broken = connection.severed = true;
  counts_.note(blind < 0 ? Fault::kSeverBoth : Fault::kSeverOneSide);
  for (int side = 0; side < 2; ++side) {
    Half& half = connection.halves[side];
    cut_wire(half);
    half.sees_down =
        side == blind ? kNever : soon(random_.chance(0.5) ? 50 * kMicrosecond : 5 * kMillisecond);
    half.after_wire = random_.chance(0.5);
    half.why = {Errc::kDown, "the simulated connection was cut"};
  }
}

void SimNetwork::kill(ProcessId process) {
  dead_.insert(process);
  counts_.note(Fault::kMemberCrash);
  for (const auto& connection : connections_) {
    for (int side = 0; side < 2; ++side) {
      if (connection->halves[side].process != process || connection->broken) continue;
      connection->broken = true;
      Half& other = connection->halves[1 - side];
      if (connection->keeps) cut_wire(connection->halves[side]);
      other.sees_down = connection->keeps && random_.chance(0.3) ? kNever : soon(kMillisecond);
      other.after_wire = true;
      other.why = {Errc::kDown, "the other process died"};
    }
  }
}

void SimNetwork::chaos() {
  sweep();
  if (!random_.chance(plan_.sever + plan_.outage)) return;
  std::vector<Connection*> candidates;
  for (const auto& connection : connections_) {
    if (connection->keeps && !connection->broken) candidates.push_back(connection.get());
  }
  if (candidates.empty()) return;
  Connection& victim = *candidates[random_.below(candidates.size())];
  if (random_.chance(plan_.outage / (plan_.sever + plan_.outage))) {
    counts_.note(Fault::kOutage);
    outages_[{victim.transport, std::minmax(victim.halves[0].process, victim.halves[1].process)}] =
        soon(50 * kMillisecond);
  }
  sever(victim, static_cast<int>(random_.below(3)) - 1);
}

void SimNetwork::sweep() {
  std::erase_if(connections_, [](const std::unique_ptr<Connection>& connection) {
    const Half& dialler = connection->halves[0];
    const Half& acceptor = connection->halves[1];
    return dialler.closed && acceptor.end == nullptr && connection->broken;
  });
}

}  // namespace livebtl::sim
