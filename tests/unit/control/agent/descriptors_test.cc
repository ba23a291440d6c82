// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/agent/descriptors_test.cc -- agents in processes that run out of descriptors.
#include <sys/socket.h>
#include <sys/un.h>

#include <fstream>

#include "control/agent/agent.h"
#include "few_descriptors.h"
#include "job_of_fakes.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;
using core::Rung;

namespace {

int threads_named(const std::string& wanted) {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    count += name.starts_with(wanted) ? 1 : 0;
  }
  return count;
}

}  // namespace

TEST_CASE("a command reaches a process that has no descriptor left") {
  JobOfFakes job(1);
  job.add_member();
  Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const FewDescriptors none(0);  // before the agent accepts the connection
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket_path(job.directory(), job.process(0)).copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(::connect(fd.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  LocalLink client(std::move(fd));
  const auto question = encode(StandingRequest{"test"});
  REQUIRE(client.send({.peer = "", .back = "", .to = "", .body = *question}));
  std::optional<Envelope> answer;
  CHECK(eventually([&] { return (answer = client.receive()).has_value(); }));
}

TEST_CASE("a process that had no descriptor in mid-ladder goes on climbing when it has") {
  JobOfFakes job(2);
  job.add_members(2);
  job.admin(1).hold(Rung::kNewTx);
  Outcome outcome;
  std::thread command([&] { outcome = job.run("switch", {"sm", "tcp"}); });
  CHECK(eventually([&] { return job.admin(1).last().rung == Rung::kNewTx; }));
  {
    const FewDescriptors none(0);
    const std::uint64_t before = job.admin(1).turns.load();
    job.admin(1).release();
    CHECK(eventually([&] { return job.admin(1).turns.load() > before; }));
  }
  command.join();
  CHECK(outcome.code == ExitCode::kDone);
}

TEST_CASE("a ladder that was left is finished for processes that have no descriptor left") {
  JobOfFakes job(2);
  job.add_members(2);
  {
    auto links = job.links();
    std::atomic<bool> stop{false};
    const auto progress = [&](const Progress& at) { stop.store(at.rung == Rung::kNewTx); };
    CHECK_FALSE(drive(links, JobOfFakes::command("switch", {"sm", "tcp"}), progress, stop));
  }
  const FewDescriptors none(0);
  CHECK(eventually([&] { return job.all_on(Rung::kNew); }));
}

TEST_CASE("a member that cannot look into the directory proves nobody gone") {
  JobOfFakes job(2);
  job.add_members(2);
  // A member in another thread may free one at that moment.
  CHECK(eventually([&] {
    const FewDescriptors none(0);
    const MemberScan scan = scan_members(job.directory(), ::geteuid());
    return !scan.complete && !proved_gone(job.directory(), ::geteuid(), job.process(1));
  }));
}

TEST_CASE("an agent does not start where no descriptor is left, and says so") {
  JobOfFakes job(1);
  const auto facts = find_job(job.settings(), ProcessId{77});
  REQUIRE(facts);
  FakeAdmin admin;
  for (rlim_t left = 0; left < 3; ++left) {
    const FewDescriptors few(left);
    const auto agent = Agent::start(*facts, ProcessId{77}, admin);
    REQUIRE_FALSE(agent);
    CHECK(agent.error().text.find("ulimit -n") != std::string::npos);
  }
}

TEST_CASE("an agent starts where hardly a descriptor is left, and is reached later") {
  JobOfFakes job(1);
  const auto facts = find_job(job.settings(), ProcessId{77});
  REQUIRE(facts);
  FakeAdmin admin;
  std::unique_ptr<Agent> agent;
  {
    const FewDescriptors few(4);
    auto started = Agent::start(*facts, ProcessId{77}, admin);
    REQUIRE(started);
    agent = std::move(*started);
  }
  CHECK(job.run("switch", {"sm", "tcp"}).code == ExitCode::kDone);
}

TEST_CASE("an agent is one thread") {
  const int before = threads_named("livebtl-agent");
  JobOfFakes job(4, "alpha", 0);
  job.add_members(2);
  CHECK(threads_named("livebtl-agent") == before + 2);
  CHECK(threads_named("ZMQ") == 0);
}
