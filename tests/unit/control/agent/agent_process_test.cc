// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/agent/agent_process_test.cc -- the agent as a guest in somebody else's
// process: idle, signals, fork.
#include "control/agent/agent.h"

#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "job_of_fakes.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;

TEST_CASE("an idle agent sleeps") {
  JobOfFakes job(1);
  job.add_member();
  auto links = job.links();
  const auto ask = [&] {
    REQUIRE(links.send(links.found().live[0].member, StandingRequest{"test"}));
    REQUIRE(links.receive(20 * kSecond));
  };
  ask();
  const std::uint64_t before = job.admin(0).turns.load();
  std::this_thread::sleep_for(
      std::chrono::milliseconds(300));  // nothing happens that could be waited for
  ask();  // the agent was asleep in between, and is woken by this alone
  CHECK(job.admin(0).turns.load() - before <= 4);
}

TEST_CASE("the agent's threads take no signals") {
  JobOfFakes job(1);
  job.add_member();
  int agents = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name != "livebtl-agent") continue;
    ++agents;
    std::ifstream status(task.path() / "status");
    std::string line;
    while (std::getline(status, line)) {
      if (!line.starts_with("SigBlk:")) continue;
      const auto mask = std::stoull(line.substr(7), nullptr, 16);
      CHECK((mask & (1ull << (SIGINT - 1))) != 0);
      CHECK((mask & (1ull << (SIGALRM - 1))) != 0);
    }
  }
  CHECK(agents >= 1);  // one from an earlier test may still be ending
}

TEST_CASE("a forked child is no member and harms none") {
  JobOfFakes job(1);
  job.add_member();
  const pid_t child = ::fork();
  if (child == 0) {
    job.remove_member(0);  // as exit() in a child may do
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(job.place().members.live.size() == 1);
  CHECK(job.run("switch", {"sm", "tcp"}).code == ExitCode::kDone);
}

TEST_CASE("a member whose child lives on is gone when it dies") {
  Scratch scratch;
  Settings settings;
  settings.rundir = scratch / "run";
  settings.job = "test";
  int ready[2], hold[2];
  REQUIRE(::pipe(ready) == 0);
  REQUIRE(::pipe(hold) == 0);
  const pid_t member = ::fork();
  if (member == 0) {
    FakeAdmin admin;
    const auto facts = find_job(settings, ProcessId{77});
    const auto agent = facts ? Agent::start(*facts, ProcessId{77}, admin) : fail(Errc::kDown, "");
    char byte = agent ? 'y' : 'n';
    if (::fork() == 0) {  // keeps a copy of every descriptor until the test ends
      ::close(hold[1]);
      [[maybe_unused]] const auto end = ::read(hold[0], &byte, 1);
      ::_exit(0);
    }
    [[maybe_unused]] const auto sent = ::write(ready[1], &byte, 1);
    ::close(hold[1]);
    [[maybe_unused]] const auto end = ::read(hold[0], &byte, 1);
    ::_exit(0);
  }
  ::close(hold[0]);
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  CHECK(byte == 'y');
  const std::string directory = settings.rundir + "/test";
  CHECK(scan_members(directory, ::geteuid()).live.size() == 1);
  ::kill(member, SIGKILL);
  int status = 0;
  REQUIRE(::waitpid(member, &status, 0) == member);
  CHECK(eventually([&] { return scan_members(directory, ::geteuid()).live.empty(); }));
  CHECK(scan_members(directory, ::geteuid()).gone.size() == 1);
  ::close(hold[1]);
  ::close(ready[0]);
  ::close(ready[1]);
}
