// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/agent/agent_test.cc -- ladders over real sockets: agents, a coordinator, and
// what can go wrong with them.
#include "control/agent/agent.h"

#include "job_of_fakes.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;
using core::Rung;

namespace {

/// A coordinator that dies when a rung is ordered: its connections vanish without a word. By then,
/// one member has taken the order: a `resume` could not know of an order that nobody has read.
void die_at(const JobOfFakes& job, const Command& command, Rung rung) {
  auto links = job.links();
  std::atomic<bool> stop{false};
  const auto outcome = drive(
      links, command,
      [&](const Progress& progress) {
        if (progress.rung != rung || progress.undoing) return;
        CHECK(eventually([&] { return job.any_on(rung); }));
        stop.store(true);
      },
      stop);
  CHECK_FALSE(outcome);
}

}  // namespace

TEST_CASE("a switch reaches every member, rung by rung") {
  JobOfFakes job(3);
  job.add_members(3);
  const auto outcome = job.run("switch", {"sm", "tcp"});
  CHECK(outcome.code == ExitCode::kDone);
  CHECK(outcome.members == 3);
  for (std::size_t i = 0; i < job.size(); ++i) {
    const auto orders = job.admin(i).orders();
    REQUIRE(orders.size() == 3);
    CHECK(orders[0].rung == Rung::kJoint);
    CHECK(orders[1].rung == Rung::kNewTx);
    CHECK(orders[2].rung == Rung::kNew);
    CHECK(orders[2].after.moved.at("sm") == "tcp");
  }
}

TEST_CASE("a look for members ends when all have answered, not when the time for it is over") {
  JobOfFakes job(3);
  job.add_members(3);
  // A scan that waits until its time-out never takes less than 300 ms. The machine may be slow now
  // and then, but not always.
  bool early = false;
  for (int i = 0; i < 100 && !early; ++i) {
    const TimeNs start = monotonic_now();
    CHECK(job.links().found().live.size() == 3);
    early = monotonic_now() - start < 250 * kMillisecond;
  }
  CHECK(early);
}

TEST_CASE("a switch to where all are already succeeds at once") {
  JobOfFakes job(2);
  job.add_members(2);
  REQUIRE(job.run("switch", {"sm", "tcp"}).code == ExitCode::kDone);
  const auto again = job.run("switch", {"sm", "tcp"});
  CHECK(again.code == ExitCode::kDone);
  CHECK(again.already);
  CHECK(job.admin(0).orders().size() == 3);
}

TEST_CASE("who holds what is released already is looked for whenever somebody asks") {
  JobOfFakes job(2);
  job.add_members(2);
  REQUIRE(job.run("remove", {"sm"}).code == ExitCode::kDone);
  job.admin(1).be_held("sm: a device is open");
  // A result stands for a moment: questions that are sent again do not cause another search.
  Outcome held;
  CHECK(eventually([&] {
    held = job.run("checkpoint", {"prepare", "sm"});
    return held.code == ExitCode::kForeign;
  }));
  CHECK(held.other_holders.size() == 1);
  job.admin(1).be_held("tcp: another is open");
  CHECK(eventually([&] { return job.run("remove", {"sm"}).code == ExitCode::kDone; }));
}

TEST_CASE("unknown transports are named with the known ones") {
  JobOfFakes job(1);
  job.add_member();
  const auto outcome = job.run("remove", {"carrier-pigeon"});
  CHECK(outcome.code == ExitCode::kNotFound);
  CHECK(outcome.text.find("sm") != std::string::npos);
}

TEST_CASE("a member that refuses stops the ladder, and all are back") {
  JobOfFakes job(2);
  job.add_members(2);
  job.admin(1).refuse(Rung::kJoint, "no such device");
  const auto outcome = job.run("switch", {"sm", "tcp"});
  CHECK(outcome.code == ExitCode::kRefused);
  CHECK(job.admin(0).last().rung == Rung::kOld);
}

TEST_CASE("a straggler is named, and the switch is taken back") {
  JobOfFakes job(3);
  job.add_members(3);
  job.admin(2).hold(Rung::kNewTx);
  auto command = JobOfFakes::command("switch", {"sm", "tcp"});
  // Enough for the member to say what it waits for, even on a loaded machine.
  command.times.rung = 2 * kSecond;
  const auto outcome = job.run(command);
  CHECK(outcome.code == ExitCode::kRetracted);
  REQUIRE(outcome.stragglers.size() == 1);
  CHECK(outcome.stragglers[0].name == "rank 2 on test");
  CHECK(outcome.stragglers[0].waiting == std::vector<std::string>{"the test"});
}

TEST_CASE("a member that reaches its rung late tells so unasked") {
  JobOfFakes job(2);
  job.add_members(2);
  job.admin(1).hold(Rung::kNewTx);
  std::thread late([&] {
    CHECK(eventually([&] { return job.admin(1).last().rung == Rung::kNewTx; }));
    job.admin(1).release();
  });
  const auto outcome = job.run("switch", {"sm", "tcp"});
  late.join();
  CHECK(outcome.code == ExitCode::kDone);
}

TEST_CASE("after the commit point a straggler means: committed but not released; resume finishes") {
  JobOfFakes job(2);
  job.add_members(2);
  job.admin(0).hold(Rung::kNew);
  auto command = JobOfFakes::command("remove", {"sm"});
  command.times.rung = 300 * kMillisecond;
  const auto outcome = job.run(command);
  CHECK(outcome.code == ExitCode::kNotReleased);
  CHECK_FALSE(outcome.released);
  job.admin(0).release();
  const auto resumed = job.run("resume");
  CHECK(resumed.code == ExitCode::kDone);
  CHECK(job.all_on(Rung::kNew));
}

TEST_CASE("only remove answers released") {
  JobOfFakes job(2);
  job.add_members(2);
  CHECK_FALSE(job.run("switch", {"sm", "tcp"}).released);
  CHECK(job.run("remove", {"sm"}).released);
}

TEST_CASE("a coordinator killed on any rung is followed by resume") {
  for (const Rung rung : {Rung::kJoint, Rung::kNewTx, Rung::kNew}) {
    JobOfFakes job(3);
    job.add_members(3);
    die_at(job, JobOfFakes::command("switch", {"sm", "tcp"}), rung);
    const auto outcome = job.run("resume");
    CHECK(outcome.code == ExitCode::kDone);
    CHECK(job.all_on(Rung::kNew));
  }
}

TEST_CASE("a coordinator killed before the commit point is followed by abort") {
  for (const Rung rung : {Rung::kJoint, Rung::kNewTx}) {
    JobOfFakes job(3);
    job.add_members(3);
    die_at(job, JobOfFakes::command("switch", {"sm", "tcp"}), rung);
    const auto outcome = job.run("abort");
    CHECK(outcome.code == ExitCode::kDone);
    CHECK(job.all_on(Rung::kOld));
  }
}

TEST_CASE("a second switch during one is refused as busy") {
  JobOfFakes job(2);
  job.add_members(2);
  job.admin(0).hold(Rung::kNewTx);
  Outcome first;
  std::thread other([&] { first = job.run("switch", {"sm", "tcp"}); });
  CHECK(eventually([&] { return job.admin(0).last().rung == Rung::kNewTx; }));
  const auto second = job.run("remove", {"tcp"});
  CHECK(second.code == ExitCode::kBusy);
  job.admin(0).release();
  other.join();
  CHECK(first.code == ExitCode::kDone);
}

TEST_CASE("of two coordinators at once, each is told the truth, and the members agree") {
  JobOfFakes job(4);
  job.add_members(4);
  for (int round = 0; round < 5; ++round) {
    Outcome outcomes[2];
    std::thread one([&] { outcomes[0] = job.run("switch", {"sm", "tcp"}); });
    std::thread two([&] { outcomes[1] = job.run("switch", {"tcp", "sm"}); });
    one.join();
    two.join();
    for (const auto& outcome : outcomes) {
      const bool honest = outcome.code == ExitCode::kDone || outcome.code == ExitCode::kBusy;
      CHECK_MESSAGE(honest, outcome.text);
    }
    CHECK((outcomes[0].code == ExitCode::kDone || outcomes[1].code == ExitCode::kDone));
    CHECK(job.run("resume").code == ExitCode::kDone);
    for (std::size_t i = 1; i < job.size(); ++i) {
      CHECK(job.admin(i).last().after == job.admin(0).last().after);
    }
  }
}

TEST_CASE("a dry run orders nothing and says what would happen") {
  JobOfFakes job(2);
  job.add_members(2);
  auto command = JobOfFakes::command("switch", {"sm", "tcp"});
  command.dry_run = true;
  const auto outcome = job.run(command);
  CHECK(outcome.code == ExitCode::kDone);
  CHECK(outcome.plans.size() == 2);
  CHECK(job.admin(0).orders().empty());
}
