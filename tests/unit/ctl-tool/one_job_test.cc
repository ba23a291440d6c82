// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/one_job_test.cc -- whether the processes that share one name are one job.
#include <doctest/doctest.h>

#include "node_of_children.h"

using namespace livebtl;
using namespace livebtl::test;

TEST_CASE("two jobs that go by one name are said to be two, and get no orders") {
  for (const int size : {2, 3}) {  // the size of the first job, and another
    Node node;
    const auto one = node.member(0), two = node.member(1);
    CHECK(node.btlctl({"status"}).err.empty());
    CHECK(node.btlctl({"--json", "status"}).json()["conflict"] == "");
    const auto other = node.member(size - 2, "job", size);
    for (const char* command : {"status", "jobs"}) {
      const auto answer = node.btlctl({"--json", command});
      CHECK(answer.code == 0);
      CHECK(answer.err.find("LIVEBTL_JOB") != std::string::npos);
      const auto document = answer.json();
      const auto& said = command == std::string("jobs") ? document["jobs"][0] : document;
      CHECK(said["conflict"].get<std::string>().find("two jobs go by the name job") == 0);
    }
    const Scratch files;
    const std::vector<std::string> orders[] = {
        {"switch", "sm", "tcp"}, {"resume"}, {"abort"}, {"secret", files / "secret"}};
    for (const auto& words : orders) {
      std::vector<std::string> line{"--timeout", "2"};
      line.insert(line.end(), words.begin(), words.end());
      const auto order = node.btlctl(line);
      CHECK(order.code == 3);
      CHECK(order.err.find("LIVEBTL_JOB") != std::string::npos);
    }
    CHECK(::access((files / "secret").c_str(), F_OK) != 0);
  }
}

TEST_CASE("processes that have nothing in common but LIVEBTL_JOB are one job") {
  Node node;
  constexpr int kNoRank = -1, kNoSize = 0;  // as docs/PROVIDER.md starts a server and its client
  const auto server = node.member(kNoRank, "job", kNoSize);
  const auto client = node.member(kNoRank, "job", kNoSize);
  for (const char* command : {"status", "jobs"}) CHECK(node.btlctl({command}).err.empty());
  CHECK(node.btlctl({"--json", "status"}).json()["conflict"] == "");
  CHECK(node.btlctl({"switch", "sm", "tcp"}).code == 0);
}
