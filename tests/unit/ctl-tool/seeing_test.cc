// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/seeing_test.cc -- history, top, metrics, trace and topology, for real agents
// with fake engines.
#include <doctest/doctest.h>
#include <signal.h>

#include <filesystem>

#include "node_of_children.h"

using namespace livebtl;
using namespace livebtl::test;

namespace {

std::string page_file_of(const Node& node) {
  for (const auto& entry : std::filesystem::directory_iterator(node.job_directory("job"))) {
    if (entry.path().extension() == ".page") return entry.path();
  }
  return "";
}

/// The last switch that history shows; empty if there was none.
Json last_switch(Node& node) {
  const Json switches = node.btlctl({"--json", "history"}).json()["switches"];
  return switches.empty() ? Json::object() : switches.back();
}

}  // namespace

TEST_CASE("history tells of a switch, who ordered it and how long its rungs took") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  CHECK(node.btlctl({"history"}).out.find("no switch") != std::string::npos);
  REQUIRE(node.btlctl({"switch", "sm", "tcp"}).code == 0);
  const auto answer = node.btlctl({"--json", "history"});
  CHECK(answer.code == 0);
  const Json document = answer.json();
  CHECK(document["schema"] == "livebtl.history/1");
  REQUIRE(document["switches"].size() == 1);
  const Json& record = document["switches"][0];
  CHECK(record["verb"] == "switch");
  CHECK(record["arguments"] == Json({"sm", "tcp"}));
  CHECK(record["end"] == "done");
  CHECK(record["members"] == 2);
  CHECK(record["ordered_by"].get<std::string>().find("btlctl switch") != std::string::npos);
  CHECK(record["rungs"].size() == 3);
  CHECK(record["rungs"][2]["reached"] == 2);
  const auto text = node.btlctl({"history"});
  CHECK(text.out.find("switch sm tcp: done") != std::string::npos);
  CHECK(text.out.find("newtx") != std::string::npos);
}

TEST_CASE("history is there after the coordinator was killed, and names who finished") {
  Node node;
  const std::vector<std::string> alone{"LIVEBTL_TAKEOVER=off"};
  const auto one = node.member(0, "job", 2, alone), two = node.member(1, "job", 2, alone);
  CHECK(one->say("hold joint") == "ok");
  const auto killed = node.start({"switch", "sm", "tcp"});
  for (int look = 0; look < 500 && last_switch(node).value("members", 0) != 2; ++look) {
  }
  killed->signal(SIGKILL);
  killed->end();
  Json record = last_switch(node);
  CHECK(record["end"] == "under way");
  CHECK(record["rungs"][0]["slow"][0]["rank"] == 0);
  CHECK(record["rungs"][0]["slow"][0]["waited_for"] == "the test");
  CHECK(one->say("release") == "ok");
  CHECK(node.btlctl({"resume"}).code == 0);
  record = last_switch(node);
  CHECK(record["end"] == "done");
  CHECK(record["ordered_by"].get<std::string>().ends_with("by btlctl switch"));
  CHECK(record["finished_by"].get<std::string>().ends_with("by btlctl resume"));
}

TEST_CASE("a stopped process is shown, and nobody waits for it") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  two->signal(SIGSTOP);
  for (const char* command : {"history", "topology", "trace", "metrics"})
    CHECK(node.btlctl({command}).code == 0);
  const auto top = node.btlctl({"--json", "top", "--once", "--interval", "0.2"}).json();
  CHECK(top["members"] == 2);
  CHECK(top["stopped"] == Json{"rank 1"});
  CHECK(node.btlctl({"top", "--once", "--interval", "0.2"})
            .out.find("stopped, and cannot move: rank 1\n") != std::string::npos);
  two->signal(SIGCONT);
}

TEST_CASE(
    "completion finds jobs, nodes and users of stopped processes at once, and says nothing else") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  one->signal(SIGSTOP);
  two->signal(SIGSTOP);
  const auto jobs = node.btlctl({"__complete", "--job", ""});
  CHECK(jobs.code == 0);
  CHECK(jobs.err.empty());
  CHECK(jobs.out == "job\t2 processes here\n");
  CHECK(node.btlctl({"__complete", "add", "--scope", "node:"}).out.starts_with("node:"));
  CHECK(node.btlctl({"__complete", "--user", ""}).out.find("has a job here") != std::string::npos);
  write_file(page_file_of(node), std::string(200'000, 'x'));
  const auto garbled = node.btlctl({"__complete", "switch", ""});
  CHECK(garbled.code == 0);
  CHECK(garbled.err.empty());
  one->signal(SIGCONT);
  two->signal(SIGCONT);
}

TEST_CASE("a page that was tampered with is named, and all others are shown") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  const std::string page = page_file_of(node);
  REQUIRE_FALSE(page.empty());
  REQUIRE(std::filesystem::remove(page));
  write_file(page, std::string(200'000, 'x'));
  const auto answer = node.btlctl({"--json", "topology"});
  CHECK(answer.code == 10);
  CHECK(answer.err.find(page) != std::string::npos);
  CHECK(answer.json()["processes"].size() == 1);
  CHECK(answer.json()["unread"][0]["code"] == "corrupt");
  REQUIRE(::chmod(page.c_str(), 0666) == 0);
  CHECK(node.btlctl({"topology"}).code == 9);
}

TEST_CASE("top shows plain tables where standard output is no terminal") {
  Node node;
  const auto one = node.member(0, "job", 1);
  const auto answer = node.btlctl({"top", "--once", "--interval", "0.2"});
  CHECK(answer.code == 0);
  CHECK(answer.out.find('\x1b') == std::string::npos);
  CHECK(answer.out.find("job job: 1 process") != std::string::npos);
  CHECK(answer.out.find("TRANSPORT") != std::string::npos);
  const auto twice = node.btlctl({"--timeout", "0.7", "--json", "top", "--interval", "0.2"});
  CHECK(twice.code == 0);
  CHECK(std::count(twice.out.begin(), twice.out.end(), '\n') >= 2);
}

TEST_CASE("metrics are printed, or replace a file as a whole") {
  Node node;
  Scratch files;
  const auto one = node.member(0, "job", 1), two = node.member(0, "other", 1);
  const auto answer = node.btlctl({"metrics"});
  CHECK(answer.code == 0);
  CHECK(answer.out.find("livebtl_jobs 2\n") != std::string::npos);
  CHECK(answer.out.find("livebtl_processes{user=\"") != std::string::npos);
  CHECK(answer.out.find("user=\"\"") == std::string::npos);
  CHECK(answer.out.ends_with("# EOF\n"));
  const std::string path = files / "livebtl.prom";
  write_file(path, "before");
  const auto planned = node.btlctl({"--dry-run", "metrics", "--textfile", path});
  CHECK(planned.code == 0);
  CHECK(planned.out == "the counters of 2 jobs would be written to " + path + "\n");
  CHECK(control::read_small_file(path, {::geteuid(), 1u << 20}).value() == "before");
  CHECK(node.btlctl({"--job", "other", "metrics", "--textfile", path}).code == 0);
  const auto text = control::read_small_file(path, {::geteuid(), 1u << 20}).value();
  CHECK(text.find("livebtl_jobs 1\n") != std::string::npos);
  CHECK(text.find("before") == std::string::npos);
  // A file left by a killed call with the same process number is in nobody's way.
  CHECK(node.shell("touch " + path + ".new.$$; exec " LIVEBTL_BTLCTL " metrics --textfile " + path)
            .code == 0);
  CHECK(std::distance(std::filesystem::directory_iterator(files.path()), {}) == 1);
  CHECK(node.btlctl({"metrics", "--textfile", files / "none" + "/x.prom"}).code == 2);
  CHECK(node.btlctl({"--json", "metrics"}).code == 1);
}

TEST_CASE("a trace has a row for each process, and its rungs lie within their switch") {
  Node node;
  const auto one = node.member(0), two = node.member(1);
  for (const char* to : {"tcp", "sm"})
    REQUIRE(node.btlctl({"switch", to == std::string("tcp") ? "sm" : "tcp", to}).code == 0);
  const Json events = node.btlctl({"trace"}).json()["traceEvents"];
  double begin = 0, end = 0;
  int switches = 0, rungs = 0, rows = 0;
  for (const Json& event : events) {
    if (event["name"] == "thread_name") ++rows;
    if (event["ph"] != "X") continue;
    const double at = event["ts"], until = at + event["dur"].get<double>();
    if (event["cat"] == "switch") {
      ++switches;
      begin = at;
      end = until;
    } else {
      ++rungs;
      CHECK(at >= begin - 0.01);
      CHECK(until <= end + 0.01);
    }
  }
  CHECK(rows == 2);
  CHECK(switches == 4);
  CHECK(rungs == 12);
  CHECK(node.btlctl({"trace", "--last", "1"}).json()["traceEvents"].size() < events.size());
}

TEST_CASE("topology names what is absent, and draws a picture") {
  Node node;
  const auto one = node.member(0);  // of two
  const auto answer = node.btlctl({"topology"});
  CHECK(answer.code == 10);
  CHECK(answer.out.find("missing: 1 process") != std::string::npos);
  const auto picture = node.btlctl({"topology", "--svg"});
  CHECK(picture.out.starts_with("<svg "));
  CHECK(picture.out.find("1 absent") != std::string::npos);
  CHECK(node.btlctl({"--json", "topology", "--svg"}).code == 1);
}
