// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/ladder/ladder_world_takeover.cc -- members that finish what a coordinator left, as
// agents do.
//
// The first living member stands for the relay of the lowest node. The coordinator that it runs is
// part of it: it stalls and dies with it, and shares its clock.
#include "tests/sim/ladder/ladder_world.h"

namespace livebtl::control {

void LadderWorld::members_take_over() {
  takes_over_ = true;
  for (std::size_t i = 0; i < members_.size(); ++i) watch(i);
}

/// After each step of the member: does its watch have something to wait for?
void LadderWorld::watch(std::size_t index) {
  Member& one = member(index);
  const TimeNs due = one.watch.due_at(one.machine);
  if (!takes_over_ || due == INT64_MAX) return;
  const TimeNs when = std::max(due - one.clock_offset, now_ + 1);
  if (when >= one.look_at) return;
  one.look_at = when;
  at(when, [this, index] { to_member(index, [this, index] { look(index); }); });
}

void LadderWorld::look(std::size_t index) {
  Member& one = member(index);
  one.look_at = INT64_MAX;
  if (!one.alive) return;
  const TimeNs now = now_ + one.clock_offset;
  if (!one.taking_over && one.watch.due(one.machine, now)) {
    const std::size_t before = before_it(index);
    if (before == 0 || one.watch.left_alone(before)) return take_over(index);
    one.watch.not_ours(now);
  }
  if (!one.taking_over) watch(index);
}

std::size_t LadderWorld::before_it(std::size_t index) const {
  std::size_t before = 0;
  for (std::size_t i = 0; i < index; ++i)
    before += members_[i]->alive && members_[i]->machine.joined();
  return before;
}

void LadderWorld::take_over(std::size_t index) {
  Member& one = member(index);
  one.taking_over = true;
  Command command = takeover_command("job", random_.next());
  command.times = default_times();
  add_coordinator(command, index);
}

bool LadderWorld::owner_is_away(std::size_t index, const CoordinatorEvent& event) {
  Coordinator& one = coordinator(index);
  if (!one.owner) return false;
  Member& owner = member(*one.owner);
  if (!owner.alive) one.alive = false;
  if (!owner.alive || !owner.frozen) return !owner.alive;
  owner.backlog.emplace_back([this, index, event] { feed_coordinator(index, event); });
  return true;
}

void LadderWorld::note_takeover(const Coordinator& one) {
  if (!one.owner) return;
  Member& owner = member(*one.owner);
  const Outcome& outcome = one.machine.outcome();
  if (outcome.code == ExitCode::kDone && !outcome.already) ++counts_.takeovers;
  owner.taking_over = false;
  owner.watch.tried(outcome.code != ExitCode::kDone, now_ + owner.clock_offset);
  watch(*one.owner);
}

std::string LadderWorld::describe() const {
  std::string text;
  for (const auto& one : members_) {
    const Standing standing = one->machine.standing(now_ + one->clock_offset);
    if (!one->alive) continue;
    text += "; " + standing.name + " term " + std::to_string(standing.term.number) + " on " +
            rung_name(standing.rung) + (standing.reached ? "" : " (not reached)") +
            (standing.undoing ? " going back" : "") + (standing.left_open ? " left open" : "") +
            (one->taking_over ? " taking over" : "") + (standing.joining ? " joining" : "");
    const auto due = one->watch.due_at(one->machine);
    if (due != INT64_MAX) {
      text += " due in " + std::to_string((due - now_ - one->clock_offset) / kMillisecond) + " ms";
    }
  }
  return text;
}

}  // namespace livebtl::control
