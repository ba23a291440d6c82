// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/ladder/ladder_world.cc -- the simulated job around the production machines.
#include "tests/sim/ladder/ladder_world.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "tests/sim/ladder/ladder_probe.h"

namespace livebtl::control {
CoordinatorTimes LadderWorld::default_times() {
  CoordinatorTimes times;
  times.total = 4 * kSecond;
  times.rung = kSecond;
  times.resend = 20 * kMillisecond;
  times.rescan = 20 * kMillisecond;
  return times;
}

MemberFacts LadderWorld::facts_of(std::size_t index, std::uint32_t announced) {
  MemberFacts facts;
  facts.job = "job";
  facts.member = {ProcessId{index + 1}, Incarnation{}};
  facts.name = "rank " + std::to_string(index);
  facts.rank = static_cast<int>(index);
  facts.announced = announced;
  facts.transports = {{"sm", "vader"}, {"tcp", ""}};
  return facts;
}

LadderWorld::LadderWorld(std::size_t members, std::uint64_t seed, WorldFaults faults)
    : random_(seed), faults_(faults), announced_(static_cast<std::uint32_t>(members)) {
  for (std::size_t i = 0; i < members; ++i) {
    members_.push_back(std::make_unique<Member>(facts_of(i, announced_), seed + i));
    members_[i]->id = facts_of(i, announced_).member;
    members_[i]->machine.step(JoinAsFirst{}, now_);
  }
  for (std::size_t i = 0; i < members; ++i) {
    if (faults_.traffic) send_frame(i);
  }
  for (std::size_t i = 0; i < faults_.nodes; ++i) relays_.push_back(std::make_unique<Relay>());
}

// -- time and network

void LadderWorld::at(TimeNs when, std::function<void()> run) {
  events_.push({std::max(when, now_), ++event_number_, std::move(run)});
}

TimeNs LadderWorld::some_delay() {
  return static_cast<TimeNs>(random_.below(static_cast<std::uint64_t>(faults_.delay_max)));
}

void LadderWorld::carry(const std::function<void()>& deliver) {
  if (random_.chance(faults_.drop)) {
    ++counts_.dropped;
    return;
  }
  int copies = 1;
  if (random_.chance(faults_.repeat)) {
    ++counts_.repeated;
    ++copies;
  }
  for (int i = 0; i < copies; ++i) {
    TimeNs delay = some_delay();
    if (faults_.drop > 0 && random_.chance(0.05)) {  // long after its successors
      ++counts_.reordered;
      delay *= 200;
    }
    at(now_ + delay, deliver);
  }
}

bool LadderWorld::run_until(const std::function<bool()>& predicate, TimeNs longest) {
  const TimeNs end = now_ + longest;
  while (!predicate()) {
    if (events_.empty() || events_.top().at > end) return false;
    Event event = events_.top();
    events_.pop();
    now_ = event.at;
    event.run();
  }
  return true;
}

const Outcome& LadderWorld::finish(std::size_t index) {
  Coordinator& one = coordinator(index);
  if (!run_until([&] { return one.machine.done(); })) {
    throw Violation("a ladder did not end: " + one.machine.outcome().verb);
  }
  return one.machine.outcome();
}

void LadderWorld::calm() {
  faults_.drop = faults_.repeat = 0.0;
  for (std::size_t i = 0; i < relays_.size(); ++i) {
    if (!relays_[i]->alive) replace_relay(i);
    freeze_relay(i, false);
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    freeze(i, false);
    members_[i]->engine.refuse_joint = members_[i]->engine.stall = false;
    members_[i]->engine.losses_left = 0;
    at(now_, [this, i] { engine_poll(i); });
  }
}

// -- coordinators

std::size_t LadderWorld::start(const std::string& verb, const std::vector<std::string>& arguments,
                               CoordinatorTimes times, bool dry_run) {
  Command command;
  command.job = "job";
  command.verb = verb;
  command.arguments = arguments;
  command.dry_run = dry_run;
  command.coordinator = random_.next() | 1;
  command.operation = random_.next() | 1;
  command.times = times;
  return add_coordinator(command, std::nullopt);
}

std::size_t LadderWorld::add_coordinator(const Command& command, std::optional<std::size_t> owner) {
  const std::size_t index = coordinators_.size();
  const TimeNs offset = owner ? member(*owner).clock_offset : 0;
  coordinators_.push_back(std::make_unique<Coordinator>(command, now_ + offset));
  coordinators_[index]->owner = owner;
  coordinators_[index]->clock_offset = offset;
  at(now_, [this, index] { feed_coordinator(index, Tick{}); });
  return index;
}

void LadderWorld::kill_coordinator(std::size_t index) {
  Coordinator& one = coordinator(index);
  if (one.owner) return;  // dies with its member
  if (one.alive && !one.machine.done()) ++counts_.coordinator_crashes;
  one.alive = false;
}

void LadderWorld::jump_clock(std::size_t index, TimeNs by) {
  ++counts_.clock_jumps;
  coordinator(index).clock_offset += by;
  at(now_, [this, index] { feed_coordinator(index, Tick{}); });
}

void LadderWorld::feed_coordinator(std::size_t index, const CoordinatorEvent& event) {
  Coordinator& one = coordinator(index);
  if (!one.alive || one.machine.done() || owner_is_away(index, event)) return;
  const auto actions = one.machine.step(event, now_ + one.clock_offset);
  std::vector<Send> sends;
  for (const auto& action : actions) {
    const auto* send = std::get_if<Send>(&action);
    if (send != nullptr && !relays_.empty()) {
      sends.push_back(*send);
    } else {
      act(index, action);
    }
  }
  if (!sends.empty()) send_by_relays(index, sends);
  if (one.machine.done()) return note_takeover(one);
  const TimeNs wake = std::max(one.machine.wake_at() - one.clock_offset, now_ + 1);
  if (one.tick_at > now_ && one.tick_at <= wake) return;
  one.tick_at = wake;
  at(wake, [this, index] {
    // A death is proved only by looking: so look now and then.
    for (const auto& member : members_) {
      if (!member->alive) feed_coordinator(index, MemberGone{member->id, -1});
    }
    feed_coordinator(index, Tick{});
  });
}

void LadderWorld::act(std::size_t index, const CoordinatorAction& action) {
  if (const auto* scan = std::get_if<Scan>(&action)) {
    at(now_ + some_delay(), [this, index, number = scan->number] {
      MembersFound found{number, {}};
      for (const auto& member : members_) {
        if (member->alive) found.members.push_back(member->id);
      }
      at(now_ + some_delay(), [this, index, found] { feed_coordinator(index, found); });
    });
  } else if (const auto* one = std::get_if<Send>(&action)) {
    send(index, *one);
  } else {
    coordinator(index).progress.push_back(std::get<Progress>(action));
  }
}

void LadderWorld::send(std::size_t coordinator, const Send& send) {
  const std::size_t index = static_cast<std::size_t>(send.to.process) - 1;
  const Place here{'c', coordinator}, there{'m', index};
  const auto reply = [this, coordinator, here, there](const Standing& standing) {
    carry(there, here, [this, coordinator, standing] { feed_coordinator(coordinator, standing); });
  };
  carry(here, there, [this, index, request = send.request, coordinator, reply] {
    to_member(index, [this, index, request, coordinator, reply] {
      std::visit(
          [&](const auto& known) {
            if constexpr (std::is_same_v<std::decay_t<decltype(known)>, PlanRequest>) {
              PlanAnswer answer{member(index).id, "", {}};
              if (chosen(known.routing).empty()) answer.plan.cut_off = {"everybody"};
              feed_coordinator(coordinator, answer);
            } else {
              feed_member(index, known, reply);
            }
          },
          request);
    });
  });
}

// -- members

void LadderWorld::to_member(std::size_t index, std::function<void()> run) {
  Member& one = member(index);
  if (!one.alive) return;
  if (one.frozen) {
    one.backlog.push_back(std::move(run));
  } else {
    run();
  }
}

void LadderWorld::feed_member(std::size_t index, const MemberEvent& event,
                              std::function<void(Standing)> reply) {
  Member& one = member(index);
  if (!one.alive) return;
  const auto place = [&one] {
    return std::tuple(LadderProbe::operation(one.machine), LadderProbe::epoch(one.machine),
                      LadderProbe::rung(one.machine), one.machine.joined());
  };
  const auto before = place();
  const bool leads =
      std::holds_alternative<PromiseRequest>(event) || std::holds_alternative<Order>(event);
  for (const auto& action : one.machine.step(event, now_ + one.clock_offset)) {
    if (const auto* answer = std::get_if<Answer>(&action)) {
      if (reply && leads && !answer->standing.stale) one.coordinator = reply;
      if (reply) reply(answer->standing);
    } else if (const auto* told = std::get_if<Notify>(&action)) {
      notify(one, told->standing);
    } else if (const auto* submit = std::get_if<Submit>(&action)) {
      engine_take(index, submit->order, std::holds_alternative<JoinFrom>(event));
    } else {
      engine_take(index, std::get<Adopt>(action).order, true);
    }
  }
  if (place() != before) check_rungs();  // looks at all members; the others have not moved
  watch(index);
}

void LadderWorld::notify(const Member& from, const Standing& standing) {
  // Through relays it returns as the agent's does: to whoever last led this member.
  if (!relays_.empty() && from.coordinator) from.coordinator(standing);
  if (!relays_.empty()) return;
  for (std::size_t i = 0; i < coordinators_.size(); ++i) {
    if (!coordinators_[i]->alive || coordinators_[i]->machine.done()) continue;
    // A member knows its coordinator by the id in the term; here all hear it, which covers more.
    carry([this, i, standing] { feed_coordinator(i, standing); });
  }
}

void LadderWorld::freeze(std::size_t index, bool frozen) {
  Member& one = member(index);
  if (frozen && !one.frozen) ++counts_.freezes;
  one.frozen = frozen;
  if (frozen) return;
  for (auto& run : std::exchange(one.backlog, {})) at(now_, std::move(run));
}

void LadderWorld::crash_member(std::size_t index) {
  if (member(index).alive) ++counts_.member_crashes;
  member(index).alive = false;
}

std::size_t LadderWorld::join_member() {
  ++counts_.joins;
  const std::size_t index = members_.size();
  MemberFacts facts = facts_of(index, 0);  // spawned: it announces itself
  members_.push_back(std::make_unique<Member>(facts, random_.next()));
  members_[index]->id = facts.member;
  at(now_ + some_delay(), [this, index] { ask_to_join(index); });
  return index;
}

void LadderWorld::ask_to_join(std::size_t index) {
  Member& one = member(index);
  if (!one.alive || one.machine.joined()) return;
  const auto reply = [this, index](const Standing& standing) {
    carry([this, index, standing] {
      to_member(index, [this, index, standing] {
        const bool before = member(index).machine.joined();
        // Every other one began alone.
        feed_member(index, JoinFrom{standing, index % 2 == 1}, {});
        if (!before && member(index).machine.joined() && faults_.traffic) send_frame(index);
      });
    });
  };
  const std::size_t asked = random_.below(members_.size());
  if (asked != index) {
    carry([this, asked, reply] {
      to_member(asked, [this, asked, reply] { feed_member(asked, StandingRequest{"job"}, reply); });
    });
  }
  at(now_ + 10 * kMillisecond, [this, index] { ask_to_join(index); });
}

}  // namespace livebtl::control
