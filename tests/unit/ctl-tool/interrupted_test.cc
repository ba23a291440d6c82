// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/interrupted_test.cc -- btlctl is interrupted in the middle of a command (docs/adr/0076).
#include <doctest/doctest.h>
#include <signal.h>

#include "node_of_children.h"

using namespace livebtl;
using namespace livebtl::test;

TEST_CASE("Ctrl-C takes back what has begun, before its commit point") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  CHECK(two->say("hold newtx") == "ok");
  const auto held = node.start({"--progress", "switch", "sm", "tcp"});
  while (held->error_line() != "newtx 0/2") {
  }
  held->signal(SIGINT);
  CHECK(held->end() == 130);
  CHECK_MESSAGE(held->err.find("taken back") != std::string::npos, held->err);
  const Json status = node.btlctl({"--json", "status"}).json();
  for (const auto& member : status["members"]) CHECK(member["rung"] == "old");
  CHECK(two->say("release") == "ok");
  CHECK(node.btlctl({"switch", "sm", "tcp"}).code == 0);  // nothing is left in its way
}

TEST_CASE("Ctrl-C after the commit point says that the job goes on to the end") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  CHECK(two->say("hold new") == "ok");
  const auto held = node.start({"--progress", "switch", "sm", "tcp"});
  while (held->error_line() != "new 0/2") {
  }
  held->signal(SIGINT);
  CHECK(held->end() == 130);
  CHECK_MESSAGE(held->err.find("commit point") != std::string::npos, held->err);
  CHECK(two->say("release") == "ok");
  CHECK(node.btlctl({"resume"}).code == 0);
  const Json status = node.btlctl({"--json", "status"}).json();
  for (const auto& member : status["members"]) CHECK(member["rung"] == "new");
}

TEST_CASE("Ctrl-C at resume leaves what it was to finish") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  CHECK(two->say("hold newtx") == "ok");
  const auto held = node.start({"--progress", "switch", "sm", "tcp"});
  while (held->error_line() != "newtx 0/2") {
  }
  held->signal(SIGKILL);
  const auto resume = node.start({"--progress", "resume"});
  while (resume->error_line() != "newtx 0/2") {
  }
  resume->signal(SIGINT);
  CHECK(resume->end() == 130);
  CHECK_MESSAGE(resume->err.find("left as it is") != std::string::npos, resume->err);
  CHECK(two->say("release") == "ok");
  CHECK(node.btlctl({"abort"}).code == 0);
}
