// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/outside_test.cc -- btlctl --connect: from a run directory without a job,
// through a relay and with the job's secret.
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "node_of_children.h"
#include "tests/unit/control/relay/processes.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

using Words = std::vector<std::string>;

Words operator+(Words one, const Words& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

/// A job that may have several nodes, and so has relays; and a place without a job.
struct Reached {
  explicit Reached(const Words& also = {})
      : one(node.member(0, "job", 2, also)), two(node.member(1, "job", 2, also)) {
    const auto relays = node.btlctl({"--json", "jobs"}).json()["jobs"][0]["relays"];
    if (!relays.empty()) relay = relays[0];
  }
  /// The options that lead there.
  Words way() {
    if (::access(secret.c_str(), F_OK) != 0) REQUIRE(node.btlctl({"secret", secret}).code == 0);
    return {"--timeout", "60", "--connect", relay, "--secret-file", secret};
  }
  Scratch files;
  Node node, outside;
  std::unique_ptr<Child> one, two;
  std::string relay, secret = files / "secret";
};

/// Accepts connections, and says nothing.
struct Mute {
  Mute() : socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(::bind(socket.number(), any, bytes) == 0);
    REQUIRE(::listen(socket.number(), 8) == 0);
    REQUIRE(::getsockname(socket.number(), any, &bytes) == 0);
    place = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  Fd socket;
  std::string place;
};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a job is commanded from outside, by every verb") {
  Reached job;
  REQUIRE_FALSE(job.relay.empty());
  CHECK(job.outside.btlctl({"status"}).code == 2);
  const Words way = job.way();
  for (const Words& words :
       {Words{"switch", "sm", "tcp"}, Words{"switch", "tcp", "sm"}, Words{"quiesce", "tcp"},
        Words{"add", "tcp"}, Words{"remove", "sm"}, Words{"--dry-run", "add", "sm"},
        Words{"add", "sm"}, Words{"set", "tcp", "weight=2"}, Words{"resume"}, Words{"abort"},
        Words{"--job", "job", "add", "sm"}, Words{"--no-wait", "switch", "sm", "tcp"}}) {
    const auto answer = job.outside.btlctl(way + Words{"--json"} + words);
    INFO(answer.err);
    CHECK(answer.code == 0);
    CHECK(answer.json()["schema"] == "livebtl.outcome/1");
  }
  for (const char* command : {"status", "list"}) {
    const auto answer = job.outside.btlctl(way + Words{"--json", command});
    CHECK(answer.code == 0);
    CHECK(answer.json()["members"].size() == 2);
  }
  const auto jobs = job.outside.btlctl(way + Words{"--json", "jobs"}).json();
  CHECK(jobs["jobs"][0]["job"] == "job");
  CHECK(jobs["jobs"][0]["members"].size() == 2);
  CHECK(holds(job.outside.btlctl(way + Words{"jobs"}).out, "rank 1"));
  CHECK(holds(job.outside.btlctl(way + Words{"watch", "--once"}).out, "joined"));
  CHECK(holds(job.node.btlctl({"jobs"}).out, job.relay));
}

TEST_CASE("who has not the job's secret is turned away, and told what to do") {
  Reached job;
  job.way();
  write_file(job.files / "wrong", std::string(64, '7'));
  write_file(job.files / "short", "7");
  write_file(job.files / "open", std::string(64, '7'), 0644);
  const std::pair<std::string, std::string> files[] = {
      {job.files / "wrong", "btlctl secret"}, {job.files / "short", "32 bytes"},
      {job.files / "open", "for a new job"},  {"/etc/passwd", "for a new job"},
      {job.files / "none", "does not exist"}, {job.files / "", "ordinary file"}};
  for (const auto& [file, words] : files) {
    for (const Words& command : {Words{"status"}, Words{"switch", "sm", "tcp"}}) {
      const auto answer = job.outside.btlctl(
          Words{"--json", "--timeout", "60", "--connect", job.relay, "--secret-file", file} +
          command);
      INFO(answer.err);
      CHECK(answer.code == 9);
      CHECK(holds(answer.err, words));
      CHECK(answer.json()["exit_code"] == 9);
    }
  }
  const auto without = job.outside.btlctl({"--timeout", "60", "--connect", job.relay, "status"});
  CHECK(without.code == 9);
  CHECK(holds(without.err, "--secret-file"));
  CHECK(job.node.btlctl({"--json", "status"}).json()["members"][0]["epoch"] == 0);
}

TEST_CASE("where nobody answers that is said, within the time-out") {
  Reached job;
  job.way();
  const Mute mute;
  const std::pair<std::string, std::string> places[] = {{mute.place, "does not answer"},
                                                        {"no-such-host.invalid:9", "no host"}};
  for (const auto& [place, words] : places) {
    for (const Words& command : {Words{"status"}, Words{"switch", "sm", "tcp"}}) {
      const auto answer = job.outside.btlctl(
          Words{"--timeout", "1", "--connect", place, "--secret-file", job.secret} + command);
      INFO(answer.err);
      CHECK(answer.code == 2);
      CHECK(holds(answer.err, words));
      CHECK(holds(answer.err, "btlctl jobs"));
    }
  }
  const TimeNs begun = monotonic_now();
  const auto refused = job.outside.btlctl(
      {"--timeout", "60", "--connect", "127.0.0.1:9", "--secret-file", job.secret, "status"});
  CHECK(refused.code == 2);
  CHECK(holds(refused.err, "nobody listens"));
  CHECK(holds(refused.err, "btlctl jobs"));
  CHECK(monotonic_now() - begun < 50 * kSecond);  // it was not the time-out that ended it
}

TEST_CASE("a relay that is stopped is told from one that has gone") {
  Reached job;
  job.way();
  const auto relays = helpers("relay", job.node.job_directory("job"));
  REQUIRE(relays.size() == 1);
  REQUIRE(::kill(relays.front(), SIGSTOP) == 0);
  const auto stopped = job.outside.btlctl(
      {"--timeout", "1", "--connect", job.relay, "--secret-file", job.secret, "status"});
  CHECK(stopped.code == 2);
  CHECK(holds(stopped.err, "is the process stopped"));
  ::kill(relays.front(), SIGCONT);  // so that it ends with the job
}

TEST_CASE("from outside the job needs no name, but may have one") {
  Reached job;
  const auto other = job.outside.btlctl(job.way() + Words{"--job", "other", "status"});
  CHECK(other.code == 2);
  CHECK(holds(other.err, "job job"));
  CHECK(job.outside.btlctl(job.way() + Words{"--job", "o/t", "status"}).code == 2);
  CHECK(job.outside.btlctl(job.way() + Words{"--job", "job", "status"}).code == 0);
}

TEST_CASE("the secret is written once, for its owner alone") {
  Reached job;
  CHECK(job.node.btlctl({"--dry-run", "secret", job.secret}).code == 0);
  CHECK(::access(job.secret.c_str(), F_OK) != 0);
  job.way();
  struct stat facts {};
  REQUIRE(::stat(job.secret.c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0600);
  const auto again = job.node.btlctl({"--json", "secret", job.secret});
  CHECK(again.code == 1);
  CHECK(holds(again.err, "exists already"));
  CHECK(again.json()["exit_code"] == 1);
}

TEST_CASE("a job of one node relays only if it was told to, and needs no secret without any") {
  for (const bool told : {false, true}) {
    Node node;
    const auto one = node.member(0, "job", 1, told ? Words{"LIVEBTL_RELAY=on"} : Words{});
    CHECK(node.btlctl({"--json", "jobs"}).json()["jobs"][0]["relays"].empty() != told);
  }
  Reached open({"LIVEBTL_AUTH=none"});
  const auto none = open.node.btlctl({"secret", open.secret});
  CHECK(none.code == 9);
  CHECK(holds(none.err, "LIVEBTL_AUTH=none"));
  CHECK(open.outside.btlctl({"--connect", open.relay, "switch", "sm", "tcp"}).code == 0);
}
