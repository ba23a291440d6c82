// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/agent/agent_members_test.cc -- membership, over real sockets: ranks that are
// announced, that join and that leave, before, during and after a ladder.
#include "control/agent/agent.h"

#include "job_of_fakes.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;
using core::Rung;

namespace {

std::size_t descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE(
    "a member that ends in the middle of a rung is no straggler: the switch goes on without it") {
  JobOfFakes job(3);
  job.add_members(3);
  job.admin(2).hold(Rung::kNewTx);
  std::thread leaves([&] {
    CHECK(eventually([&] { return job.admin(2).last().rung == Rung::kNewTx; }));
    job.remove_member(2);
  });
  const auto outcome = job.run("switch", {"sm", "tcp"});
  leaves.join();
  CHECK(outcome.code == ExitCode::kDone);
  CHECK(outcome.stragglers.empty());
  CHECK(outcome.members == 2);
}

TEST_CASE("a member that was left behind says so on its card") {
  JobOfFakes job(1);
  job.add_members(1);
  job.admin(0).leave_behind();
  CHECK(eventually([&] {
    const auto scan = scan_members(job.directory(), ::geteuid());
    return scan.live.size() == 1 && scan.live.front().left_behind &&
           entry_of(scan.live.front(), false).left_behind;
  }));
  job.remove_member(0);  // it proves nothing about the process restored elsewhere
  CHECK_FALSE(proved_gone(job.directory(), ::geteuid(), job.process(0)));
}

TEST_CASE("what an order names as relays the engine learns, if it was carried out") {
  JobOfFakes job(1);
  job.add_members(1);
  HoldCommand command;
  command.job = "test";
  command.verb = HoldVerb::kStart;
  command.id = 7;
  command.lease_ms = 60'000;
  REQUIRE(job.run(command).code == ExitCode::kDone);
  command.verb = HoldVerb::kRestored;
  command.incarnation = Incarnation{9};
  command.claimer = 1;
  command.id = 8;
  command.relays = {"tcp://10.0.0.7:1"};
  CHECK(job.run(command).code != ExitCode::kDone);
  CHECK(job.admin(0).relays().empty());
  command.id = 7;
  REQUIRE(job.run(command).code == ExitCode::kDone);
  CHECK(job.admin(0).relays() == command.relays);
  command.relays.clear();
  REQUIRE(job.run(command).code == ExitCode::kDone);
  CHECK(job.admin(0).relays().size() == 1);
}

TEST_CASE("a command that all members leave while it waits for them ends at once") {
  JobOfFakes job(2);
  job.add_members(2);
  job.admin(1).hold(Rung::kJoint);
  std::thread leaves([&] {
    CHECK(eventually([&] { return job.admin(1).last().rung == Rung::kJoint; }));
    job.remove_member(0);
    job.remove_member(1);
  });
  const auto outcome = job.run("switch", {"sm", "tcp"});
  leaves.join();
  CHECK(outcome.code == ExitCode::kNotFound);
}

TEST_CASE("announced ranks that are not there are named, and nothing is ordered") {
  JobOfFakes job(3);
  job.add_members(2);
  auto command = JobOfFakes::command("switch", {"sm", "tcp"});
  command.times.total = 300 * kMillisecond;
  const auto outcome = job.run(command);
  CHECK(outcome.code == ExitCode::kMembersMissing);
  CHECK(outcome.missing_ranks == std::vector<int>{2});
  CHECK(job.admin(0).orders().empty());
}

TEST_CASE("a job that is still starting is waited for") {
  JobOfFakes job(3);
  job.add_members(2);
  Outcome outcome;
  std::thread command([&] { outcome = job.run("switch", {"sm", "tcp"}); });
  job.add_member();
  command.join();
  CHECK(outcome.code == ExitCode::kDone);
  CHECK(job.all_on(Rung::kNew));
}

TEST_CASE("a rank that has left is not waited for") {
  JobOfFakes job(3);
  job.add_members(3);
  job.remove_member(1);
  CHECK(job.run("switch", {"sm", "tcp"}).code == ExitCode::kDone);
  CHECK(job.place().members.gone.size() == 1);
}

TEST_CASE("a process that joins after a switch is where the job is") {
  JobOfFakes job(2);
  job.add_members(2);
  REQUIRE(job.run("switch", {"sm", "tcp"}).code == ExitCode::kDone);
  job.add_spawned_member();
  CHECK(job.admin(2).adopted().rung == Rung::kNew);
  CHECK(job.admin(2).adopted().after.moved.at("sm") == "tcp");
  CHECK(job.run("switch", {"tcp", "sm"}).code == ExitCode::kDone);
}

TEST_CASE("a process that joins in mid-ladder climbs with the others") {
  JobOfFakes job(2);
  job.add_members(2);
  job.admin(0).hold(Rung::kNewTx);
  Outcome outcome;
  std::thread command([&] { outcome = job.run("switch", {"sm", "tcp"}); });
  CHECK(eventually([&] { return job.admin(0).last().rung == Rung::kNewTx; }));
  job.add_spawned_member();
  const Rung joined_at = job.admin(2).adopted().rung;
  CHECK((joined_at == Rung::kJoint || joined_at == Rung::kNewTx));
  job.admin(0).release();
  command.join();
  CHECK(outcome.code == ExitCode::kDone);
  CHECK(job.all_on(Rung::kNew));
}

TEST_CASE("the last to leave takes the job's directory along") {
  std::string directory;
  {
    JobOfFakes job(2);
    job.add_members(2);
    directory = job.directory();
    job.remove_member(0);
    CHECK(std::filesystem::exists(directory));
    job.remove_member(1);
    CHECK_FALSE(std::filesystem::exists(directory));
  }
}

TEST_CASE("members that come and go leave no descriptors") {
  JobOfFakes job(0);
  job.add_member();
  const auto round = [&] {
    job.add_member();
    job.remove_member(job.size() - 1);
  };
  round();
  const std::size_t before = descriptors();
  for (int i = 0; i < 10; ++i) round();
  // In its next turn, a member notices that another one, which asked it something, has left.
  CHECK(eventually([&] { return descriptors() <= before; }));
}
