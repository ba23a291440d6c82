// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/ladder/ladder_seeds.cc -- random ladders: one seed decides all faults, and can be
// replayed.
//
// usage: ladder_seeds [FIRST [COUNT]]. Prints the failing seed and the violation and, at the end,
// how many faults of each kind there were; a kind that never happened is a failure as well.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/sim/ladder/ladder_world.h"

using namespace livebtl;
using namespace livebtl::control;

namespace {

struct Command {
  const char* verb;
  std::vector<std::string> arguments;
};

Command some_command(Random& random) {
  switch (random.below(8)) {
    case 0:
      return {"remove", {"sm"}};
    case 1:
      return {"add", {"sm"}};
    case 2:
      return {"resume", {}};
    case 3:
      return {"abort", {}};
    case 4:
      return {"switch", {"tcp", "sm"}};
    case 5:
      return {"quiesce", {"sm"}};
    default:
      return {"switch", {"sm", "tcp"}};
  }
}

void fault_member(LadderWorld& world, std::size_t index) {
  Random& random = world.random();
  LadderWorld::Member& member = world.member(index);
  switch (random.below(7)) {
    case 0:
    case 1:
      world.freeze(index, !member.frozen);
      break;
    case 2:
      member.engine.refuse_joint = !member.engine.refuse_joint;
      break;
    case 3:
      member.engine.losses_left = random.below(300);
      break;
    case 4:
      member.clock_offset += static_cast<TimeNs>(random.below(10'000'000'000));
      break;
    case 5:
      if (index != 0 && world.member_count() < 8) world.crash_member(index);
      break;
    default:
      if (world.member_count() < 8) world.join_member();
  }
}

void fault_relay(LadderWorld& world, std::size_t node) {
  LadderWorld::Relay& relay = world.relay(node);
  switch (world.random().below(3)) {
    case 0:
      return world.freeze_relay(node, !relay.frozen);
    case 1:
      return world.kill_relay(node);
    default:
      if (!relay.alive) world.replace_relay(node);
  }
}

/// One stroke of fate, about every 15 virtual milliseconds.
void fate(LadderWorld& world) {
  Random& random = world.random();
  const std::size_t kind = random.below(10);
  if (kind < 2 && world.coordinator_count() < 12) {
    CoordinatorTimes times = LadderWorld::default_times();
    times.rung = static_cast<TimeNs>(10 + random.below(400)) * kMillisecond;
    times.total = times.rung * static_cast<TimeNs>(1 + random.below(6));
    const Command command = some_command(random);
    world.start(command.verb, command.arguments, times);
  } else if (kind < 4 && world.coordinator_count() > 0) {
    const std::size_t index = random.below(world.coordinator_count());
    if (random.chance(0.5)) {
      world.kill_coordinator(index);
    } else {
      world.jump_clock(index, static_cast<TimeNs>(random.below(2'000'000'000)));
    }
  } else if (kind < 6) {
    fault_member(world, random.below(world.member_count()));
  } else if (kind < 8 && world.relay_count() > 0) {
    fault_relay(world, random.below(world.relay_count()));
  }
}

void require(bool condition, const char* what) {
  if (!condition) throw Violation(what);
}

/// Finishes what was left over: an operator does it, or the members by themselves.
void finish_all(LadderWorld& world, bool by_themselves) {
  CoordinatorTimes times;
  if (by_themselves) {
    const bool rest = world.run_until([&] { return world.all_rest(); }, 200 * kSecond);
    if (!rest) throw Violation("nobody called resume: not at rest" + world.describe());
    return;
  }
  for (int attempt = 0; attempt < 3; ++attempt) {
    world.finish(world.start("resume", {}, times));
    if (world.all_rest()) break;
  }
}

/// Faults have stopped: every ladder must end, all members come to rest, and a new ladder succeed.
void must_end_well(LadderWorld& world, bool by_themselves) {
  world.calm();
  for (std::size_t i = 0; i < world.coordinator_count(); ++i) {
    if (world.coordinator(i).alive) world.finish(i);
  }
  finish_all(world, by_themselves);
  // A late question from a dead coordinator may have kept a member busy: for one lease from its
  // arrival, no longer. It arrives while the faults that held it up are lifted.
  world.run_until([] { return false; }, kCoordinatorLease + (by_themselves ? 30 : 1) * kSecond);
  require(world.all_rest(), "not all members were brought to rest");
  world.routing();
  CoordinatorTimes times;
  const Outcome added = world.finish(world.start("add", {"sm"}, times));
  if (added.code != ExitCode::kDone) throw Violation("add failed: " + added.text);
  const auto code = world.finish(world.start("switch", {"sm", "tcp"}, times)).code;
  require(code == ExitCode::kDone, "the last switch failed");
  require(world.routing().moved.at("sm") == "tcp", "the last switch did not do what it said");
}

void add(const FaultCounts& one, FaultCounts& total) {
  total.dropped += one.dropped;
  total.repeated += one.repeated;
  total.reordered += one.reordered;
  total.coordinator_crashes += one.coordinator_crashes;
  total.member_crashes += one.member_crashes;
  total.joins += one.joins;
  total.freezes += one.freezes;
  total.clock_jumps += one.clock_jumps;
  total.refusals += one.refusals;
  total.losses += one.losses;
  total.takeovers += one.takeovers;
  total.relay_deaths += one.relay_deaths;
  total.relay_freezes += one.relay_freezes;
  total.merged += one.merged;
  total.passed_on += one.passed_on;
}

void run_seed(std::uint64_t seed, FaultCounts& total) {
  Random chance(seed);
  WorldFaults faults;
  faults.drop = chance.chance(0.3) ? 0.0 : 0.2 * static_cast<double>(chance.below(100)) / 100;
  faults.repeat = 0.1;
  faults.delay_max = static_cast<TimeNs>(1 + chance.below(4)) * kMillisecond / 2;
  faults.traffic = true;
  // In a third of the seeds the coordinator asks members directly.
  if (seed % 3 != 0) faults.nodes = 1 + chance.below(3);
  LadderWorld world(2 + chance.below(3), chance.next(), faults);
  if (faults.nodes > 1) world.relay(0).merges = chance.chance(0.8);
  const bool by_themselves = seed % 2 == 0;
  if (by_themselves) world.members_take_over();
  for (int i = 0; i < 60; ++i) {
    fate(world);
    world.run_until([] { return false; }, static_cast<TimeNs>(world.random().below(30'000'000)));
  }
  must_end_well(world, by_themselves);
  add(world.counts(), total);
}

bool report(const FaultCounts& total) {
  const std::pair<const char*, std::uint64_t> kinds[] = {
      {"dropped", total.dropped},
      {"repeated", total.repeated},
      {"reordered", total.reordered},
      {"coordinator crashes", total.coordinator_crashes},
      {"member crashes", total.member_crashes},
      {"joins", total.joins},
      {"freezes", total.freezes},
      {"clock jumps", total.clock_jumps},
      {"refused opens", total.refusals},
      {"path losses", total.losses},
      {"ladders finished by members", total.takeovers},
      {"relay deaths", total.relay_deaths},
      {"relay freezes", total.relay_freezes},
      {"answers of several members", total.merged},
      {"questions passed on by relays", total.passed_on}};
  bool all = true;
  for (const auto& [name, count] : kinds) {
    std::printf("  %-28s %llu\n", name, static_cast<unsigned long long>(count));
    all = all && count > 0;
  }
  if (!all) std::printf("a kind of fault never happened: run more seeds\n");
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 2000;
  FaultCounts total;
  int failed = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    try {
      run_seed(seed, total);
    } catch (const Violation& violation) {
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), violation.what());
      if (++failed == 10) break;
    }
  }
  std::printf("%llu seeds, %d failed\n", static_cast<unsigned long long>(count), failed);
  return report(total) && failed == 0 ? 0 : 1;
}
