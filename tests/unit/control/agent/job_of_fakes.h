// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/agent/job_of_fakes.h -- a job in one process: real agents over real sockets, fake
// engines.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "control/agent/agent.h"
#include "control/client/drive.h"
#include "control/client/job_links.h"
#include "fake_admin.h"
#include "tests/unit/control/agent/scratch.h"

namespace livebtl::test {

/// Waits for a condition, never for a time; the limit only ends a test that has failed.
template <class Condition>
bool eventually(Condition condition) {
  const TimeNs deadline = monotonic_now() + 20 * kSecond;
  while (monotonic_now() < deadline) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return condition();
}

class JobOfFakes {
 public:
  explicit JobOfFakes(std::uint32_t announced) : JobOfFakes(announced, "test", 0) {}
  /// One of a job's nodes, with its first rank. Nodes that share a secret file are one job.
  JobOfFakes(std::uint32_t announced, std::string node, std::uint64_t first_rank,
             std::string secret_file = "", bool authenticated = true)
      : started_(first_rank), first_(first_rank) {
    settings_.rundir = scratch_ / "run";
    settings_.job = "test";
    settings_.node = std::move(node);
    settings_.size = announced;
    settings_.secret_file = std::move(secret_file);
    settings_.tcp_if = {"lo"};
    settings_.relay_path = LIVEBTL_RELAY_PROGRAM;
    if (!authenticated) settings_.auth = AuthLevel::kNone;
  }

  /// Starts the next member, which joins.
  void add_member() { start(find_facts()); }
  /// ... as by MPI_Comm_spawn: the launcher says neither where the members are nor how many.
  void add_spawned_member() {
    control::JobFacts facts = find_facts();
    facts.announced = 0;
    facts.relays = false;
    start(std::move(facts));
  }
  void add_members(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) add_member();
  }
  void remove_member(std::size_t index) { agents_[index].reset(); }
  ProcessId process(std::size_t index) const { return ProcessId{0x1000 + first_ + index}; }

  FakeAdmin& admin(std::size_t index) { return *admins_[index]; }
  std::size_t size() const { return admins_.size(); }
  control::JobPlace place() const {
    return {"test", settings_.rundir + "/test", ::geteuid(),
            control::scan_members(settings_.rundir + "/test", ::geteuid())};
  }
  std::string directory() const { return settings_.rundir + "/test"; }
  const Settings& settings() const { return settings_; }

  control::JobLinks links() const { return control::JobLinks::open(place()); }
  /// Its times only end what has failed; a test that waits for a time-out sets a shorter one.
  static control::Command command(std::string verb, std::vector<std::string> arguments = {}) {
    control::Command command;
    command.job = "test";
    command.verb = std::move(verb);
    command.arguments = std::move(arguments);
    command.coordinator = random_u64() | 1;
    command.operation = random_u64() | 1;
    command.times = control::times_within(120 * kSecond);
    return command;
  }
  control::Outcome run(const control::Command& command,
                       const std::function<void(const control::Progress&)>& progress = {}) const {
    auto to = links();
    const std::atomic<bool> stop{false};
    const auto outcome = control::drive(to, command, progress, stop);
    REQUIRE(outcome);
    return *outcome;
  }
  control::Outcome run(const control::HoldCommand& command) const {
    auto to = links();
    const std::atomic<bool> stop{false};
    const auto outcome = control::drive(to, command, {}, stop);
    REQUIRE(outcome);
    return *outcome;
  }
  control::Outcome run(std::string verb, std::vector<std::string> arguments = {}) const {
    return run(command(std::move(verb), std::move(arguments)));
  }
  /// Whether all engines, or at least one, were last ordered to this rung.
  bool all_on(core::Rung rung) const { return count_on(rung) == admins_.size(); }
  bool any_on(core::Rung rung) const { return count_on(rung) > 0; }

 private:
  std::size_t count_on(core::Rung rung) const {
    const auto on = std::count_if(admins_.begin(), admins_.end(),
                                  [rung](const auto& admin) { return admin->last().rung == rung; });
    return static_cast<std::size_t>(on);
  }
  control::JobFacts find_facts() {
    auto facts = control::find_job(settings_, ProcessId{0x1000 + started_++});
    REQUIRE(facts);
    facts->rank = static_cast<int>(started_) - 1;
    facts->label = "rank " + std::to_string(facts->rank) + " on " + settings_.node;
    return std::move(*facts);
  }
  void start(const control::JobFacts& facts) {
    auto admin = std::make_unique<FakeAdmin>();
    auto agent = control::Agent::start(facts, ProcessId{0x1000 + started_ - 1}, *admin);
    REQUIRE(agent);
    admins_.push_back(std::move(admin));
    agents_.push_back(std::move(*agent));
  }

  Scratch scratch_;
  Settings settings_;
  std::uint64_t started_;
  std::uint64_t first_;
  std::vector<std::unique_ptr<FakeAdmin>> admins_;  // outlive the agents
  std::vector<std::unique_ptr<control::Agent>> agents_;
};

}  // namespace livebtl::test
