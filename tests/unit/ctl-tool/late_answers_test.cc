// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/late_answers_test.cc -- what status and watch make of a process that answers
// late, or that answers an earlier question.
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <set>

#include "base/clock.h"
#include "node_of_children.h"

using namespace livebtl;
using namespace livebtl::test;

TEST_CASE("each pair of a process that was asked twice is shown once, and none is missing") {
  Node node;
  const auto one = node.member(0, "job", 1, {}, {"3000"});
  one->signal(SIGSTOP);
  const auto command = node.start({"--json", "--timeout", "120", "status", "--peers"});
  ::usleep(1'700'000);  // it is asked every half second
  one->signal(SIGCONT);
  CHECK(command->end() == 0);
  CHECK(command->err.empty());
  const Json peers = Json::parse(command->out)["members"][0]["engine"]["peers"];
  std::set<std::string> names;
  for (const Json& peer : peers) names.insert(peer["name"].get<std::string>());
  CHECK(peers.size() == 3000);
  CHECK(names.size() == 3000);
}

TEST_CASE("a silent process leaves the others time to tell of all their pairs") {
  Node node;
  const auto one = node.member(0, "job", 2, {}, {"1000"}), two = node.member(1);
  two->signal(SIGSTOP);
  const TimeNs begun = monotonic_now();
  const auto answer = node.btlctl({"--json", "--timeout", "8", "status", "--peers"});
  CHECK(monotonic_now() - begun < 12 * kSecond);
  two->signal(SIGCONT);
  CHECK(answer.code == 10);
  REQUIRE(answer.json()["members"].size() == 1);
  CHECK(answer.json()["members"][0]["engine"]["peers"].size() == 1000);
}

TEST_CASE("what a process had sent before it was first heard is nobody's rate") {
  Node node;
  const std::vector<std::string> before{"3", "1000000000"};
  const auto one = node.member(0, "job", 2, {}, before), two = node.member(1, "job", 2, {}, before);
  two->signal(SIGSTOP);
  const auto watch = node.start({"--timeout", "2", "watch", "--interval", "0.2"});
  ::usleep(700'000);
  two->signal(SIGCONT);
  CHECK(watch->end() == 0);
  CHECK(watch->out.find("rank 1") != std::string::npos);
  CHECK(watch->out.find("B/s") == std::string::npos);
}
