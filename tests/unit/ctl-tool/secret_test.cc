// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/secret_test.cc -- btlctl secret: which processes are asked, and how it ends.
#include <doctest/doctest.h>

#include "base/clock.h"
#include "node_of_children.h"

using namespace livebtl;
using namespace livebtl::test;

TEST_CASE("the first answer is enough: a stopped process is not waited for") {
  Scratch files;
  Node node;
  const auto one = node.member(0), two = node.member(1);
  for (const auto* stopped : {&one, &two}) {
    (*stopped)->signal(SIGSTOP);
    const TimeNs begun = monotonic_now();
    const std::string file = files / (stopped == &one ? "one" : "two");
    CHECK(node.btlctl({"--timeout", "60", "secret", file}).code == 0);
    CHECK(monotonic_now() - begun < 50 * kSecond);
    (*stopped)->signal(SIGCONT);
  }
}

TEST_CASE("Ctrl-C ends it as an interruption, and nobody who answers is missing processes") {
  Scratch files;
  Node node;
  const auto one = node.member(0, "job", 1);
  one->signal(SIGSTOP);
  CHECK(node.btlctl({"--timeout", "1", "secret", files / "a"}).code == 10);
  const std::string file = files / "b";
  const auto answer = node.shell(
      "timeout --preserve-status -s INT 1 " LIVEBTL_BTLCTL " --timeout 60 secret " + file);
  CHECK(answer.code == 130);
  CHECK(answer.err.find("interrupted") != std::string::npos);
  CHECK(::access(file.c_str(), F_OK) != 0);
}

TEST_CASE("a file that cannot be made is not a lack of rights, unless it is one") {
  Scratch files;
  Node node;
  const auto one = node.member(0, "job", 1);
  const std::string file = files / "secret";
  CHECK(node.btlctl({"secret", file}).code == 0);
  CHECK(node.btlctl({"secret", file}).code == 1);
  CHECK(node.btlctl({"secret", files / "nowhere/secret"}).code == 1);
  if (::geteuid() == 0) return;  // root may write anywhere
  CHECK(node.shell("chmod 500 " + files.path() + "; btlctl secret " + (files / "c")).code == 9);
  CHECK(node.shell("chmod 700 " + files.path()).code == 0);
}
