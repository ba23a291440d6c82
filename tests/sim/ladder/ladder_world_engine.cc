// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/ladder/ladder_world_engine.cc -- simulated engines, the data between them, and the
// invariants.
#include <algorithm>
#include <array>

#include "tests/sim/ladder/ladder_probe.h"
#include "tests/sim/ladder/ladder_world.h"

namespace livebtl::control {

/// The engine's rule, as far as the ladder needs it: every pair reaches both transports.
std::string LadderWorld::chosen(const Routing& routing) {
  const std::array<core::Candidate, 2> reachable = {core::Candidate{"sm", 64},
                                                    core::Candidate{"tcp", 32}};
  return core::choose(routing, reachable).value_or("");
}

// -- the engine

std::string LadderWorld::sends_on(std::size_t index) const {
  const Engine& engine = members_[index]->engine;
  const bool on_new = engine.order.rung >= Rung::kNewTx;
  return chosen(on_new ? engine.order.after : engine.order.before);
}

bool LadderWorld::is_open(std::size_t index, const std::string& transport) const {
  const core::RungOrder& order = members_[index]->engine.order;
  const bool old_open = order.rung != Rung::kNew && chosen(order.before) == transport;
  const bool new_open = order.rung != Rung::kOld && chosen(order.after) == transport;
  return old_open || new_open;
}

void LadderWorld::engine_take(std::size_t index, const core::RungOrder& order, bool adopted) {
  Engine& engine = member(index).engine;
  const bool same = order.operation == engine.order.operation;
  const int from = same ? static_cast<int>(engine.order.rung) : 0;
  if (!adopted && std::abs(static_cast<int>(order.rung) - from) > 1) {
    throw Violation("an engine was ordered to skip a rung");
  }
  engine.refusal.clear();
  const bool opens = order.rung == Rung::kJoint && from == 0;
  if (engine.refuse_joint && opens && !adopted) {
    ++counts_.refusals;
    engine.refusal = "cannot open the transport";
    if (!same) engine.order.rung = Rung::kOld;  // it stays at the foot of the new ladder
    engine.order = order;
    engine.order.rung = Rung::kOld;
    engine.reached = false;
  } else {
    if (static_cast<int>(order.rung) < from) ++engine.rungs_down;
    engine.order = order;
    engine.reached = false;
  }
  at(now_ + some_delay(), [this, index] { engine_poll(index); });
}

void LadderWorld::engine_poll(std::size_t index) {
  Member& one = member(index);
  Engine& engine = one.engine;
  if (!one.alive) return;
  if (engine.refusal.empty() && !engine.stall) {
    engine.reached = one.in_flight == 0;
    if (engine.order.rung == Rung::kNewTx && engine.losses_left > 0) {
      --engine.losses_left;
      ++counts_.losses;
      engine.reached = false;
    }
  }
  to_member(index, [this, index] { engine_report(index); });
  if (!engine.reached && engine.refusal.empty() && !engine.stall) {
    at(now_ + 5 * kMillisecond, [this, index] { engine_poll(index); });
  }
}

void LadderWorld::engine_report(std::size_t index) {
  const Engine& engine = member(index).engine;
  core::RungReport report;
  report.operation = engine.order.operation;
  report.epoch = engine.order.epoch;
  report.rung = engine.refusal.empty() ? engine.order.rung : Rung::kJoint;
  report.reached = engine.reached;
  report.refusal = engine.refusal;
  report.refused_last_path = engine.last_path;
  if (!engine.refusal.empty()) report.pairs = {"rank 9"};
  report.pairs_moved = 1;
  if (engine.order.rung == Rung::kNew) report.other_holders = engine.other_holders;
  report.absent = engine.absent;
  if (!engine.reached) report.waiting = {"frames on the old path"};
  feed_member(index, report, {});
}

// -- data

void LadderWorld::send_frame(std::size_t from) {
  Member& one = member(from);
  if (!one.alive) return;
  const std::size_t to = random_.below(members_.size());
  const Member& other = member(to);
  if (!one.frozen && to != from && other.alive && other.machine.joined()) {
    const Frame frame{from, to, sends_on(from)};
    if (!is_open(to, frame.transport)) {
      throw Violation("rank " + std::to_string(from) + " sent on " + frame.transport +
                      ", which rank " + std::to_string(to) + " has not open");
    }
    ++one.in_flight;
    at(now_ + some_delay() * 3, [this, frame] { deliver_frame(frame); });
  }
  at(now_ + 3 * kMillisecond + some_delay(), [this, from] { send_frame(from); });
}

void LadderWorld::deliver_frame(const Frame& frame) {
  if (member(frame.from).alive) --member(frame.from).in_flight;
  if (!member(frame.to).alive) return;
  ++frames_delivered_;
  if (!is_open(frame.to, frame.transport)) {
    throw Violation("a frame was in flight on " + frame.transport + ", which rank " +
                    std::to_string(frame.to) + " had closed");
  }
}

// -- invariants

void LadderWorld::check_rungs() {
  std::uint64_t current = 0;
  std::uint32_t newest = 0;
  for (const auto& one : members_) {
    const MemberMachine& machine = one->machine;
    if (!one->alive || !machine.joined() || LadderProbe::operation(machine) == 0) continue;
    if (LadderProbe::epoch(machine) >= newest) {
      newest = LadderProbe::epoch(machine);
      current = LadderProbe::operation(machine);
    }
  }
  int lowest = 3, highest = 0;
  for (const auto& one : members_) {
    if (!one->alive || !one->machine.joined()) continue;
    const std::uint64_t operation = LadderProbe::operation(one->machine);
    const int rung = static_cast<int>(LadderProbe::rung(one->machine));
    if (operation != current && operation != 0 && rung != 0 && rung != 3) {
      throw Violation("two operations at work at once");
    }
    lowest = std::min(lowest, operation == current ? rung : 0);
    highest = std::max(highest, operation == current ? rung : 0);
  }
  if (highest - lowest > 1) throw Violation("members stand two rungs apart");
}

Routing LadderWorld::routing() {
  const Routing first = member(0).machine.standing(now_).routing;
  for (const auto& one : members_) {
    if (one->alive && one->machine.joined() && one->machine.standing(now_).routing != first) {
      throw Violation("members end with different routings");
    }
  }
  return first;
}

bool LadderWorld::all_rest() {
  return std::all_of(members_.begin(), members_.end(), [](const auto& one) {
    return !one->alive || (one->machine.joined() && !one->machine.unfinished());
  });
}

}  // namespace livebtl::control
