// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/btlctl_test.cc -- the program itself against processes with real agents and fake
// engines.
#include <doctest/doctest.h>

#include <thread>

#include "base/clock.h"
#include "control/place/directory.h"
#include "node_of_children.h"

using namespace livebtl;
using namespace livebtl::test;

TEST_CASE("without a job there is nothing to switch, and the text says what to do") {
  Node node;
  const auto answer = node.btlctl({"list"});
  CHECK(answer.code == 2);
  CHECK(answer.out.empty());
  for (const auto& command : {std::vector<std::string>{"--json", "list"}, {"--json", "fly"}}) {
    const auto failed = node.btlctl(command);
    CHECK(failed.json()["schema"] == "livebtl.outcome/1");
    CHECK(failed.json()["exit_code"] == failed.code);
    CHECK_FALSE(failed.err.empty());
  }
  CHECK(answer.err.find("LIVEBTL_RUNDIR") != std::string::npos);
  CHECK(node.btlctl({"jobs"}).code == 0);
  CHECK(node.btlctl({"--json", "jobs"}).json()["jobs"].empty());
}

TEST_CASE(
    "a run directory that may not be used is said to be why, and an answer that is lost too") {
  Node node;
  const auto one = node.member(0, "job", 1);
  CHECK(node.shell("btlctl status > /dev/full").code == 1);
  CHECK(node.shell("btlctl status >&-").code == 1);
  CHECK(node.shell("chmod 755 $LIVEBTL_RUNDIR; btlctl status").code == 9);
  CHECK(node.shell("chmod 700 $LIVEBTL_RUNDIR; btlctl status").code == 0);
}

TEST_CASE("a job alone on its node needs no name") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  const auto jobs = node.btlctl({"--json", "jobs"}).json();
  CHECK(jobs["schema"] == "livebtl.jobs/1");
  CHECK(jobs["jobs"][0]["members"].size() == 2);
  const auto answer = node.btlctl({"--json", "--progress", "switch", "sm", "tcp"});
  CHECK(answer.code == 0);
  CHECK(answer.json()["schema"] == "livebtl.outcome/1");
  CHECK(answer.json()["exit_code"] == 0);
  CHECK(answer.json()["released"] == false);
  CHECK(answer.err.find("joint 0/2") != std::string::npos);
  CHECK(node.btlctl({"--json", "switch", "vader", "tcp"}).json()["already"] == true);
  CHECK(node.btlctl({"remove", "sm"}).err.empty());
}

TEST_CASE("of two jobs one must be named") {
  Node node;
  const auto one = node.member(0, "a", 1), two = node.member(0, "b", 1);
  const auto answer = node.btlctl({"list"});
  CHECK(answer.code == 1);
  CHECK(answer.err.find("--job a") != std::string::npos);
  CHECK(node.btlctl({"--job", "a", "list"}).code == 0);
  CHECK(node.btlctl({"--job", "c", "switch", "sm", "tcp"}).code == 2);
}

TEST_CASE("list and status show every process") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  const auto list = node.btlctl({"list"});
  CHECK(list.code == 0);
  // Each of the two has three peers on sm, itself included: two pairs, and two self-pairs.
  CHECK(list.out.find("sm (vader)  open             0       0      4     0 ") != std::string::npos);
  CHECK(list.out.find("tcp         open             0       0      0     3 ") != std::string::npos);
  const auto status = node.btlctl({"--json", "status", "--peers"}).json();
  REQUIRE(status["members"].size() == 2);
  CHECK(status["members"][0]["rung"] == "old");
  CHECK(status["members"][1]["rank"] == 1);
  CHECK(status["members"][1]["engine"]["peers"].size() == 3);
  CHECK(status["members"][0]["engine"]["transports"][1]["own_pair"] == true);
  CHECK(status["members"][0]["engine"]["transports"][2]["bulk_peers"] == 3);
  const std::string shown = node.btlctl({"status", "--peers"}).out;
  for (const char* part : {"peer 2", "PAIRS", "sm:3", "BULK", "tcp:3", "BULK ON", "tcp self"})
    CHECK(shown.find(part) != std::string::npos);
}

TEST_CASE("a job is held, is found to be held throughout, and sends on") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  CHECK(node.btlctl({"hold", "check"}).code == 8);
  const auto started = node.btlctl({"--json", "hold", "start", "--lease", "100"}).json();
  CHECK(started["exit_code"] == 0);
  CHECK(started["members"] == 2);
  CHECK(started["verb"] == "hold start");
  const std::string id = started["operation"];
  CHECK(node.btlctl({"hold", "check"}).out.find("without interruption") != std::string::npos);
  CHECK(node.btlctl({"hold", "check", "--id", id}).code == 0);
  CHECK(node.btlctl({"status"}).out.find("held by " + id + ", for ") != std::string::npos);
  const auto shown = node.btlctl({"--json", "status"}).json();
  CHECK(shown["members"][1]["engine"]["hold"]["state"] == "parked");
  CHECK(shown["members"][1]["engine"]["hold"]["claimed"] == false);
  CHECK(node.btlctl({"hold", "check", "--id", "0x1"}).code == 8);
  CHECK(node.btlctl({"--dry-run", "hold", "start"}).code == 4);
  const auto ended = node.btlctl({"hold", "end"});
  CHECK(ended.code == 0);
  CHECK(ended.out.find("never broken") != std::string::npos);
  const auto again = node.btlctl({"hold", "end"});
  CHECK(again.code == 8);
  CHECK(again.err.find("no process is held") != std::string::npos);
  const auto restored = node.btlctl({"job", "restored"});
  CHECK(restored.code == 8);
  CHECK(restored.err.find("there is nothing to continue") != std::string::npos);
}

TEST_CASE("a stopped process is named and makes the tool neither hang nor lie") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  two->signal(SIGSTOP);
  const auto status = node.btlctl({"--timeout", "2", "status"});
  CHECK(status.code == 10);
  CHECK(status.out.find("rank 0") != std::string::npos);
  CHECK(status.err.find("rank 1") != std::string::npos);
  const auto change = node.btlctl({"--json", "--timeout", "2", "switch", "sm", "tcp"});
  CHECK(change.code == 5);
  CHECK(change.err.find("rank 1") != std::string::npos);
  CHECK(change.err.find("is silent") != std::string::npos);
  CHECK(change.err.find("stands on") == std::string::npos);
  CHECK(change.json()["stragglers"][0]["rung"].is_null());
  two->signal(SIGCONT);
  CHECK(node.btlctl({"switch", "sm", "tcp"}).code == 0);
}

TEST_CASE("exit codes: refused, unknown, missing") {
  Node node;
  const auto one = node.member(0);
  CHECK(node.btlctl({"status"}).out.find("missing: 1 of 2") != std::string::npos);
  CHECK(node.btlctl({"status"}).out.find("ranks 1:") != std::string::npos);
  const auto status = node.btlctl({"--json", "status"}).json();
  CHECK(status["missing"] == 1);
  CHECK(status["missing_ranks"] == std::vector<int>{1});
  CHECK(node.btlctl({"--timeout", "2", "switch", "sm", "tcp"}).code == 10);
  const auto two = node.member(1);
  CHECK(node.btlctl({"remove", "pigeon"}).code == 2);
  CHECK(two->say("refuse joint") == "ok");
  const auto refused = node.btlctl({"switch", "sm", "tcp"});
  CHECK(refused.code == 3);
  CHECK(refused.err.find("the test says no") != std::string::npos);
}

TEST_CASE("a killed btlctl is followed by resume, or by abort") {
  for (const char* command : {"resume", "abort"}) {
    Node node;
    const auto one = node.member(0), two = node.member(1);
    CHECK(two->say("hold newtx") == "ok");
    const auto held = node.start({"--progress", "switch", "sm", "tcp"});
    while (held->error_line() != "newtx 0/2") {
    }
    CHECK(node.btlctl({"remove", "tcp"}).code == 4);
    held->signal(SIGKILL);
    CHECK(two->say("release") == "ok");
    CHECK(node.btlctl({command}).code == 0);
    const auto status = node.btlctl({"--json", "status"}).json();
    for (const auto& member : status["members"]) {
      CHECK(member["rung"] == (std::string(command) == "resume" ? "new" : "old"));
    }
  }
}

TEST_CASE("a dry run changes nothing") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  const auto dry = node.btlctl({"--dry-run", "switch", "sm", "tcp"});
  CHECK(dry.code == 0);
  CHECK(dry.out.find("sm -> tcp: 1") != std::string::npos);
  CHECK(node.btlctl({"--dry-run", "remove", "sm"}).out.find("closes sm") != std::string::npos);
  CHECK(node.btlctl({"--dry-run", "--json", "remove", "sm"}).json()["closes"][0] == "sm");
  CHECK(node.btlctl({"--json", "status"}).json()["members"][0]["rung"] == "old");
  CHECK(node.btlctl({"remove", "sm"}).code == 0);
  const auto refused = node.btlctl({"--dry-run", "remove", "tcp"});
  CHECK(refused.code == 3);
  for (const char* rank : {"rank 0 on", "rank 1 on"}) {
    const auto named = refused.err.find(rank);
    REQUIRE(named != std::string::npos);
    CHECK(refused.err.find(" - rank 9 on nowhere", named) != std::string::npos);
  }
}

TEST_CASE("watch tells of a switch while it happens") {
  Node node;
  const auto one = node.member(0, "job", 1);
  const auto watch = node.start({"watch", "--interval", "0.05"});
  CHECK(watch->line().find("rank 0") != std::string::npos);  // joined
  CHECK(watch->line().find("old") != std::string::npos);
  CHECK(node.btlctl({"switch", "sm", "tcp"}).code == 0);
  std::string line;
  while ((line = watch->line()).find("new of switch sm tcp") == std::string::npos) {
    REQUIRE_FALSE(line.empty());
  }
  watch->signal(SIGINT);
  CHECK(watch->end() == 0);
}

TEST_CASE("what was typed is never echoed raw") {
  Node node;
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"jobs"}, {"list"}, {"--timeout", "0.1", "add", "sm"}}) {
    for (const bool outside : {false, true}) {
      std::vector<std::string> words{"--job", "a\033[2J\nb\xc2\x9b"};
      if (outside) words.insert(words.end(), {"--connect", "127.0.0.1:9"});
      words.insert(words.end(), command.begin(), command.end());
      const auto answer = node.btlctl(words);
      CHECK(answer.code == 2);
      CHECK(answer.err.find("a?[2J?b?") != std::string::npos);
      CHECK(answer.err.find_first_of("\033\x9b") == std::string::npos);
    }
  }
}

TEST_CASE("settings are listed with their defaults, their values and where these are from") {
  Node node;
  const auto settings = node.btlctl({"--json", "settings"}).json();
  CHECK(settings["schema"] == "livebtl.settings/1");
  bool found = false;
  for (const auto& setting : settings["settings"]) {
    if (setting["name"] != "LIVEBTL_WINDOW_BYTES") continue;
    found = true;
    CHECK(setting["default"] == "1M");
    CHECK(setting["from"] == "default");
    CHECK(setting["value"] == setting["default"]);
  }
  CHECK(found);
}
