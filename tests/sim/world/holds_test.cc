// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/world/holds_test.cc -- the simulator's holds tell processes what the product's commands
// would.
#include "tests/sim/world/holds.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/bell.h"
#include "base/log.h"

using namespace livebtl;
using namespace livebtl::sim;

namespace {

/// What agents sleep on.
struct AlwaysRung {
  AlwaysRung() { bell.ring(); }
  Bell bell;
};

/// Processes without faults or traffic, and the holds of one seed.
struct Job {
  explicit Job(std::uint64_t its_seed)
      : ledger(its_seed),
        network(clock, its_seed, FaultPlan::calm(), always.bell.fd()),
        holds(network, processes, its_seed) {
    holds.on_failure = [](const std::string& what) { FAIL_CHECK(what); };
    add();
    add();
  }
  ~Job() {
    for (const auto& process : processes) process->die();
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  void add() {
    ProcessOptions options;
    options.number = processes.size() + 1;
    options.announced = options.number <= 2 ? 2 : 0;
    options.seed = options.number;
    processes.push_back(std::make_unique<SimProcess>(network, ledger, options));
    const auto nobody = [](const control::MemberAction&) {};
    if (options.number == 1)
      processes.back()->step(control::JoinAsFirst{}, nobody);
    else
      processes.back()->step(control::JoinFrom{processes.front()->standing()}, nobody);
    processes.back()->begin();
  }
  void step() {
    clock.advance_to(clock.now() + 100 * kMicrosecond);
    for (const auto& process : processes) {
      if (!process->frozen()) process->turn(false);
    }
    holds.run(false);
  }
  core::HoldReport report(std::size_t at) { return processes[at]->engine().hold_report(); }

  SimClock clock;
  Ledger ledger;
  AlwaysRung always;
  SimNetwork network;
  std::vector<std::unique_ptr<SimProcess>> processes;
  Holds holds;
};

/// Until some hold was restored from twice. false: not with this seed.
bool restored_twice(Job& job) {
  constexpr std::uint64_t kHolds = 4;
  const TimeNs latest = job.clock.now() + kSecond;
  std::uint64_t restored_in = 0;
  while (job.holds.begun() <= kHolds && job.clock.now() < latest) {
    const std::uint64_t before = job.holds.restored();
    job.step();
    const bool restored = job.holds.restored() != before;
    if (restored && job.holds.begun() == restored_in) return true;
    if (restored) restored_in = job.holds.begun();
    // While a process stands still it is unknown whether all are parked; it is checked anew
    // afterwards.
    const bool again = restored_in != 0 && job.holds.begun() == restored_in;
    if (again && !job.processes[1]->frozen())
      job.processes[1]->freeze(job.clock.now() + 150 * kMicrosecond, false);
  }
  return false;
}

/// Until all are parked by the next hold. false: some process is never told, or released before.
bool held_anew(Job& job) {
  const std::uint64_t next = job.holds.begun() + 1;
  const auto all_parked = [&] {
    return std::ranges::all_of(job.processes, [&](const auto& process) {
      const core::HoldReport report = process->engine().hold_report();
      return report.id == next && report.state == core::HoldState::kParked;
    });
  };
  while (job.holds.begun() <= next) {
    job.step();
    if (all_parked()) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("who is held after a set was restored twice gets the incarnation that the set has") {
  constexpr std::uint64_t kSeeds = 50;
  set_log_level(LogLevel::kError);  // leases that run out are no news here
  int seen = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    Job job(seed);
    if (!restored_twice(job)) continue;
    job.add();
    REQUIRE(job.report(2).incarnation == Incarnation{});
    if (!held_anew(job)) continue;
    ++seen;
    CHECK(job.report(0).incarnation == job.report(1).incarnation);
    CHECK(job.report(2).incarnation == job.report(0).incarnation);
  }
  CHECK(seen > 0);
}
