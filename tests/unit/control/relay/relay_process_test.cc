// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/relay/relay_process_test.cc -- the relay as a process beside members: what it
// inherits, what its end causes, and what remains when the members have gone.
#include <signal.h>
#include <sys/wait.h>

#include "control/agent/helper.h"
#include "processes.h"
#include "tests/unit/control/agent/few_descriptors.h"
#include "tests/unit/control/agent/two_nodes.h"

using namespace livebtl;
using namespace livebtl::control;
using namespace livebtl::test;
using core::Rung;

namespace {

std::atomic<int> children_ended{0};

struct CountsChildren {
  CountsChildren() {
    children_ended.store(0);
    struct sigaction action {};
    action.sa_handler = [](int) { children_ended.fetch_add(1); };
    REQUIRE(::sigaction(SIGCHLD, &action, &before_) == 0);
  }
  ~CountsChildren() { ::sigaction(SIGCHLD, &before_, nullptr); }
  struct sigaction before_ {};
};

std::string status_line(pid_t pid, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with(name + ":")) return line.substr(name.size() + 1);
  }
  return "";
}

std::vector<std::string> files_of_relay(const JobOfFakes& node) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(node.directory())) {
    const std::string kind = entry.path().extension();
    if (kind == kRelaySocket || kind == kRelayInnerSocket || kind == kRelayLock)
      found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

pid_t relay_pid(const JobOfFakes& node) {
  std::vector<pid_t> found;
  REQUIRE(eventually([&] { return (found = helpers("relay", node.directory())).size() == 1; }));
  return found.front();
}

}  // namespace

TEST_CASE(
    "the members of a node have one relay, which is no child of theirs and holds nothing of them") {
  const CountsChildren counts;
  int pipe_ends[2];
  REQUIRE(::pipe(pipe_ends) == 0);  // inherited by every program that this process starts
  TwoNodes nodes;
  const pid_t pid = relay_pid(*nodes.one);
  CHECK(children_ended.load() == 0);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
  CHECK(::getsid(pid) == pid);
  CHECK(std::stoull(status_line(pid, "SigBlk"), nullptr, 16) == 0);
  ::close(pipe_ends[1]);
  char byte = 0;
  CHECK(::read(pipe_ends[0], &byte, 1) == 0);  // nobody else has the other end
  ::close(pipe_ends[0]);
  for (const char* stdio : {"0", "1", "2"}) {
    CHECK(std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/fd/" + stdio) ==
          "/dev/null");
  }
}

TEST_CASE("the last member's end leaves no process, no socket and no directory") {
  std::string one, two;
  {
    TwoNodes nodes;
    one = nodes.one->directory();
    two = nodes.two->directory();
    REQUIRE(nodes.one->run("switch", {"sm", "tcp"}).code == ExitCode::kDone);
    nodes.one->remove_member(0);
    nodes.one->remove_member(1);
    CHECK(eventually([&] { return helpers("relay", one).empty(); }));
    CHECK_FALSE(std::filesystem::exists(one));
    CHECK(helpers("relay", two).size() == 1);
  }
  CHECK(eventually([&] { return helpers("relay", two).empty(); }));
}

TEST_CASE("a relay that outlives its run takes nothing away from the next one's") {
  Scratch keys;
  write_file(keys / "one", kKey);
  JobOfFakes node(4, "alpha", 0, keys / "one");
  node.add_member();
  const pid_t old = relay_pid(node);
  std::vector<std::string> files;
  REQUIRE(eventually([&] { return (files = files_of_relay(node)).size() == 3; }));
  for (const std::string& file : files)  // as when the previous run was killed
    REQUIRE(std::filesystem::remove(file));
  node.add_member();
  REQUIRE(eventually([&] {
    return helpers("relay", node.directory()).size() == 2 && files_of_relay(node) == files;
  }));
  node.remove_member(0);
  REQUIRE(eventually([&] { return helpers("relay", node.directory()).size() == 1; }));
  CHECK(helpers("relay", node.directory()).front() != old);
  CHECK(files_of_relay(node) == files);
}

TEST_CASE("a relay that is killed between two commands is replaced, on the same port") {
  TwoNodes nodes;
  const std::string before = relay_of(*nodes.two);
  const pid_t killed = relay_pid(*nodes.two);
  REQUIRE(::kill(killed, SIGKILL) == 0);
  CHECK(eventually([&] {
    const auto now = helpers("relay", nodes.two->directory());
    return now.size() == 1 && now.front() != killed && relay_of(*nodes.two) == before;
  }));  // for a moment the cards may name no relay
  const auto outcome = nodes.one->run("switch", {"sm", "tcp"});
  CHECK(outcome.code == ExitCode::kDone);
  CHECK(outcome.members == 4);
}

TEST_CASE("a relay that is killed in mid-ladder holds the ladder up, and no more") {
  TwoNodes nodes;
  nodes.two->admin(1).hold(Rung::kNewTx);
  Outcome outcome;
  std::thread command([&] { outcome = nodes.one->run("switch", {"sm", "tcp"}); });
  CHECK(eventually([&] { return nodes.two->admin(1).last().rung == Rung::kNewTx; }));
  for (auto* node : {nodes.one.get(), nodes.two.get()})
    REQUIRE(::kill(relay_pid(*node), SIGKILL) == 0);
  nodes.two->admin(1).release();
  command.join();
  CHECK(outcome.code == ExitCode::kDone);
  CHECK(nodes.one->all_on(Rung::kNew));
  CHECK(nodes.two->all_on(Rung::kNew));
}

TEST_CASE(
    "members that leave another node in mid-ladder are not waited for, even if nobody is left "
    "there") {
  TwoNodes nodes;
  const std::string two = nodes.two->directory();
  nodes.two->admin(1).hold(Rung::kNewTx);
  Outcome outcome;
  std::thread command([&] { outcome = nodes.one->run("switch", {"sm", "tcp"}); });
  CHECK(eventually([&] { return nodes.two->admin(1).last().rung == Rung::kNewTx; }));
  nodes.two->remove_member(0);
  nodes.two->remove_member(1);
  command.join();
  CHECK(outcome.code == ExitCode::kDone);
  CHECK(outcome.members == 2);
  CHECK(nodes.one->all_on(Rung::kNew));
  CHECK(eventually([&] { return helpers("relay", two).empty(); }));
}

TEST_CASE("a helper that cannot be started is named, with the setting that says where it is") {
  const auto missing = start_helper("/no/such/program", {"relay"});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().text.find("/no/such/program") != std::string::npos);
  CHECK(missing.error().text.find("LIVEBTL_RELAY_PATH") != std::string::npos);
  CHECK(::waitpid(-1, nullptr, WNOHANG | __WALL) == -1);
}

TEST_CASE("a helper starts where no descriptor is left") {
  JobOfFakes job(1);
  job.add_member();
  const FewDescriptors none(0);
  CHECK(start_helper(LIVEBTL_RELAY_PROGRAM, {"relay"}));
}
