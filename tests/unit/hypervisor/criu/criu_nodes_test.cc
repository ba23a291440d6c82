// SPDX-License-Identifier: BSD-3-Clause
// A job on several played nodes: all dump and restore, or none does.
#include "hypervisor/criu/node_words.h"
#include "tests/unit/hypervisor/criu/played_programs.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

const std::string kHeld = "checkpoint prepare\ncheckpoint prepare sm\nhold start id\n";
const std::string kNodesBack = "hold end id\ncheckpoint return\n";
const char* const kLinkOne =
    R"j({"local":"10.0.0.1:1","remote":"10.0.0.2:2","owner":"mpirun (7)"})j";
const char* const kLinkTwo =
    R"j({"local":"10.0.0.2:2","remote":"10.0.0.1:1","owner":"orted (8)"})j";

/// The end of each line that says whom an order was for.
std::string of_a_job() { return ": --job a-job --user " + std::to_string(::geteuid()) + " "; }

}  // namespace

TEST_CASE("all nodes dump, all are told to go, and the set lists what each has told") {
  Stage stage;
  stage.put("link-vm1", kLinkOne, 0600);
  stage.put("link-vm2", kLinkTwo, 0600);
  const Report report = stage.dump(on_two_nodes(stage));
  CHECK_MESSAGE(report.end.code == 0, report.end.text);
  CHECK(stage.calls() == kHeld);
  for (const std::string& each : stage.told_whom()) CHECK_MESSAGE(each.ends_with(of_a_job()), each);
  CHECK(stage.told_whom().size() == 5);  // three orders, and two nodes
  CHECK(stage.text("told-vm1") == "go\nkeep\n");
  CHECK(stage.text("told-vm2") == "go\nkeep\n");
  const auto set = read_set(stage.text("set/set.json"));
  REQUIRE(set);
  REQUIRE(set->machines.size() == 2);
  CHECK(set->machines[1].name == "vm2");
  CHECK(set->machines[1].bytes == 7);
  const auto order = read_node_order(stage.text("order-vm2"));
  REQUIRE(order);
  CHECK(order->directory == stage.path("set"));
  CHECK(order->lease_left_s > 0);
}

TEST_CASE("a node that fails is named, no other one goes, and the job goes on") {
  Stage stage;
  stage.put("fail-vm2", "3", 0600);
  const Report report = stage.dump(on_two_nodes(stage));
  CHECK(report.end.code == 3);
  CHECK(report.end.text.find("vm2 says 3") != std::string::npos);
  CHECK(stage.text("told-vm1") == "undo\n");
  CHECK(stage.calls() == kHeld + kNodesBack);
  CHECK_FALSE(stage.has("set"));
}

TEST_CASE("a node that cannot be reached is named") {
  Stage stage;
  CriuRequest request = on_two_nodes(stage);
  request.node_command = "/no/such/program {node}";
  const Report report = stage.dump(request);
  CHECK(report.end.code == 5);
  CHECK(report.end.text.find("vm2: /no/such/program") != std::string::npos);
  CHECK(stage.calls() == kHeld + kNodesBack);
}

TEST_CASE("a connection out of what is dumped, and a process that is in no dump, are refused") {
  for (const bool link : {true, false}) {
    CAPTURE(link);
    Stage stage;
    CriuRequest request = on_two_nodes(stage);
    if (link) stage.put("link-vm1", kLinkOne, 0600);
    if (!link) request.find_nodes = [] { return Result<std::vector<std::string>>({"vm1"}); };
    const Report report = stage.dump(request);
    CHECK(report.end.code == 5);
    const char* const says = link ? "mpirun (7) has a connection" : "2 processes were held, but 1";
    CHECK_MESSAGE(report.end.text.find(says) != std::string::npos, report.end.text);
    CHECK(stage.text("told-vm1") == "undo\n");
    CHECK_FALSE(stage.has("set"));
  }
}

TEST_CASE("a hold that is over before the last node has dumped is no set, whoever was slow") {
  Stage stage;
  stage.put("slow-vm2", "3", 0600);
  CriuRequest request = on_two_nodes(stage);
  request.lease = kSecond;
  const Report report = stage.dump(request);
  CHECK(report.end.code == 5);
  CHECK_MESSAGE(report.end.text.find("--lease must be longer") != std::string::npos,
                report.end.text);
  CHECK(stage.text("told-vm1") == "undo\n");
  CHECK(stage.text("told-vm2") == "undo\n");
  CHECK_FALSE(stage.has("set"));
}

TEST_CASE("a directory with a file that another node's set is made of is refused, and left alone") {
  Stage stage;
  REQUIRE(::mkdir(stage.path("set").c_str(), 0700) == 0);
  stage.put("set/vm1.criu", "the only copy", 0600);
  stage.put("set/vm1.kept", "", 0600);
  const Report report = stage.dump(on_two_nodes(stage));
  CHECK(report.end.code == 3);
  CHECK(report.end.text.find("vm1.kept") != std::string::npos);
  CHECK(stage.calls().empty());
  CHECK(stage.text("set/vm1.criu") == "the only copy");
  CHECK_FALSE(stage.has("order-vm1"));
}

TEST_CASE("a node that is lost when all were told to go leaves a whole set, and is named") {
  Stage stage;
  stage.put("lost-vm2", "", 0600);
  const Report report = stage.dump(on_two_nodes(stage));
  CHECK(report.end.code == 6);
  REQUIRE(report.end.left.size() == 1);
  CHECK(report.end.left[0].find("vm2") != std::string::npos);
  CHECK(stage.has("set/set.json"));
}

TEST_CASE("a job that goes on is checked before the set is sealed") {
  Stage stage;
  stage.put("fail-hold-check", "8", 0600);
  CriuRequest request = on_two_nodes(stage);
  request.goes_on = true;
  CHECK(stage.dump(request).end.code == 8);
  CHECK(stage.text("told-vm2") == "go\nundo\n");
  CHECK(stage.calls() == kHeld + "hold check id\n" + kNodesBack);
  CHECK_FALSE(stage.has("set"));
}

TEST_CASE("a set of two nodes is restored on both, and kept once the job says that it is whole") {
  for (const bool whole : {true, false}) {
    CAPTURE(whole);
    Stage stage;
    REQUIRE(stage.dump(on_two_nodes(stage)).end.code == 0);
    stage.calls();
    for (const char* node : {"told-vm1", "told-vm2"}) std::filesystem::remove(stage.path(node));
    if (!whole) stage.put("fail-job-restored", "8", 0600);
    const Report report = stage.restart(on_two_nodes(stage));
    CHECK_MESSAGE(report.end.code == (whole ? 0 : 8), report.end.text);
    CHECK(stage.text("told-vm2") == (whole ? "go\nkeep\n" : "go\nundo\n"));
    const auto order = read_node_order(stage.text("order-vm2"));
    REQUIRE(order);
    CHECK_FALSE(order->dumps);
    CHECK(order->file.crc32c == 9);
    for (const std::string& each : stage.told_whom()) {
      if (!each.starts_with("checkpoint node")) CHECK_MESSAGE(each.ends_with(of_a_job()), each);
    }
  }
}

TEST_CASE("where nodes have restored different jobs, none of their processes runs") {
  Stage stage;
  REQUIRE(stage.dump(on_two_nodes(stage)).end.code == 0);
  stage.calls();
  for (const char* node : {"told-vm1", "told-vm2"}) std::filesystem::remove(stage.path(node));
  stage.put("job-vm2", "another", 0600);
  const Report report = stage.restart(on_two_nodes(stage));
  CHECK(report.end.code == 8);
  CHECK_MESSAGE(report.end.text.find("vm2 has restored job another of user") != std::string::npos,
                report.end.text);
  for (const char* node : {"told-vm1", "told-vm2"}) CHECK(stage.text(node) == "undo\n");
  CHECK(stage.calls().empty());
}

TEST_CASE("a node that cannot restore has none of them run") {
  Stage stage;
  REQUIRE(stage.dump(on_two_nodes(stage)).end.code == 0);
  stage.calls();
  std::filesystem::remove(stage.path("told-vm1"));
  stage.put("fail-vm2", "8", 0600);
  const Report report = stage.restart(on_two_nodes(stage));
  CHECK(report.end.code == 8);
  CHECK(stage.text("told-vm1") == "undo\n");
  CHECK(stage.calls().empty());
}

TEST_CASE("a set of several nodes is restored by their command alone, and from one of them") {
  Stage stage;
  REQUIRE(stage.dump(on_two_nodes(stage)).end.code == 0);
  CHECK(stage.restart(stage.request()).end.code == 3);
  CriuRequest elsewhere = on_two_nodes(stage);
  elsewhere.node = "vm3";
  CHECK(stage.restart(elsewhere).end.code == 3);
}

TEST_CASE("a job that may get processes on other nodes is told so, and that they may be none yet") {
  Stage stage;
  CriuRequest request = stage.request();
  request.find_job = [&stage] {
    JobHere here = stage.job_here();
    here.elsewhere = true;
    return Result<JobHere>(here);
  };
  const Report report = stage.dump(request);
  CHECK(report.end.code == 3);
  CHECK_MESSAGE(report.end.text.find("may get, processes on other nodes (LIVEBTL_RELAY=on") !=
                    std::string::npos,
                report.end.text);
  CHECK(report.end.text.find("--node-command") != std::string::npos);
}
