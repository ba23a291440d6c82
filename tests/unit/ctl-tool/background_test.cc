// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/background_test.cc -- a command whose caller does not wait for it.
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "node_of_children.h"

using namespace livebtl;
using namespace livebtl::test;

TEST_CASE("--no-wait goes on alone") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  CHECK(two->say("hold newtx") == "ok");
  CHECK(node.btlctl({"--no-wait", "switch", "sm", "tcp"}).code == 0);
  CHECK(node.btlctl({"remove", "tcp"}).code == 4);
  CHECK(two->say("release") == "ok");
  const TimeNs deadline = monotonic_now() + 20 * kSecond;
  const auto ended = [&node] {
    const auto members = node.btlctl({"--json", "status"}).json()["members"];
    return std::ranges::all_of(members, [](const auto& member) {
      return member["rung"] == "new" && member["busy"] == false;
    });
  };
  bool done = false;
  while (!done && monotonic_now() < deadline) done = ended();
  CHECK(done);
  const auto unknown = node.btlctl({"--json", "--no-wait", "remove", "pigeon"});
  CHECK(unknown.code == 2);
  CHECK(unknown.json()["background"] == false);
}

TEST_CASE("--no-wait says that it was begun, not that it is done: it may be refused") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  CHECK(two->say("refuse newtx") == "ok");
  const auto begun = node.btlctl({"--json", "--no-wait", "switch", "sm", "tcp"});
  CHECK(begun.code == 0);
  CHECK(begun.json()["background"] == true);
  const std::string text = begun.json()["text"];
  CHECK(text.find("btlctl history") != std::string::npos);
  const auto ended = [&node] {
    const Json switches = node.btlctl({"--json", "history"}).json()["switches"];
    return switches.empty() ? std::string() : switches.back()["end"].get<std::string>();
  };
  const TimeNs deadline = monotonic_now() + 20 * kSecond;
  std::string end;
  while ((end.empty() || end == "under way") && monotonic_now() < deadline) end = ended();
  CHECK_MESSAGE((end == "taken back" || end == "refused"), end);
}

TEST_CASE(
    "--no-wait that is interrupted before the first order says so, and its child gives up, too") {
  for (const int number : {SIGINT, SIGTERM}) {
    Node node;
    const auto one = node.member(0), two = node.member(1);
    two->signal(SIGSTOP);
    const auto command = node.start({"--json", "--no-wait", "switch", "sm", "tcp"});
    command->wait_child();
    command->signal(number);
    const TimeNs begun = monotonic_now();
    CHECK(command->end() == 130);
    CHECK(monotonic_now() - begun < 5 * kSecond);
    CHECK(Json::parse(command->out)["exit_code"] == 130);
    CHECK(command->err.find("nothing was changed") != std::string::npos);
    two->signal(SIGCONT);
    const Json status = node.btlctl({"--json", "status"}).json();
    REQUIRE(status["members"].size() == 2);
    for (const auto& member : status["members"]) {
      CHECK(member["rung"] == "old");
      CHECK(member["epoch"] == 0);
    }
  }
}
