// SPDX-License-Identifier: BSD-3-Clause
// A job of several played nodes that is restored on other hosts and under other addresses.
#include "hypervisor/criu/node_words.h"
#include "tests/unit/hypervisor/criu/node_caller.h"
#include "tests/unit/hypervisor/criu/open_files_image.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

TEST_CASE(
    "a set is restored with another host in a node's place, which is called there, and told the "
    "new addresses") {
  Stage stage;
  REQUIRE(stage.dump(on_two_nodes(stage)).end.code == 0);
  stage.calls();
  for (const char* node : {"told-vm1", "told-vm2"}) std::filesystem::remove(stage.path(node));
  stage.put("relay-vm7", "10.0.0.7:4000,10.1.0.7:4000", 0600);
  stage.put("relay-vm1", "10.0.0.1:4000", 0600);  // this node: its members need no relay
  CriuRequest request = on_two_nodes(stage);
  request.hosts = {{"vm2", "vm7"}};
  request.addresses = {*parse_new_address("10.0.0.2=10.0.0.7")};
  const Report report = stage.restart(request);
  CHECK_MESSAGE(report.end.code == 0, report.end.text);
  CHECK(stage.text("told-vm7") == "go\nkeep\n");
  CHECK_FALSE(stage.has("told-vm2"));
  const auto order = read_node_order(stage.text("order-vm7"));
  REQUIRE(order);
  CHECK(order->node == "vm2");
  CHECK(order->addresses == request.addresses);
  CHECK(stage.text("relays") == "10.0.0.7:4000,10.1.0.7:4000\n");
}

TEST_CASE("hosts that cannot take a node's place are refused before anything is done") {
  Stage stage;
  REQUIRE(stage.dump(on_two_nodes(stage)).end.code == 0);
  for (const char* node : {"order-vm1", "order-vm2"}) std::filesystem::remove(stage.path(node));
  struct Case {
    std::map<std::string, std::string> hosts;
    const char* says;
  };
  const Case cases[] = {
      {{{"vm9", "vm7"}}, "no processes of vm9, but of vm1, vm2"},
      {{{"vm2", "vm1"}}, "two nodes cannot be on one host, vm1"},
      {{{"vm1", "vm7"}}, "no processes on this node, vm1; call it on one of vm7, vm2"}};
  for (const Case& each : cases) {
    CriuRequest request = on_two_nodes(stage);
    request.hosts = each.hosts;
    const Report report = stage.restart(request);
    CHECK(report.end.code == 3);
    CHECK_MESSAGE(report.end.text.find(each.says) != std::string::npos, report.end.text);
  }
  CHECK_FALSE(stage.has("order-vm1"));
}

TEST_CASE("a dump refuses hosts as a restore does, before the job leaves anything") {
  for (const auto& [node, host] : {std::pair{"vm9", "vm7"}, {"vm2", "vm1"}, {"vm1", "vm7"}}) {
    Stage stage;
    CriuRequest request = on_two_nodes(stage);
    request.hosts = {{node, host}};
    const Report report = stage.dump(request);
    CHECK(report.end.code == 3);
    CHECK_MESSAGE(report.end.text.find("the job") != std::string::npos, report.end.text);
    CHECK(stage.calls().empty());
  }
}

TEST_CASE("a job that was restored elsewhere is dumped where its processes are") {
  Stage stage;
  CriuRequest request = on_two_nodes(stage);
  request.hosts = {{"vm2", "vm7"}};
  const Report report = stage.dump(request);
  CHECK_MESSAGE(report.end.code == 0, report.end.text);
  const auto order = read_node_order(stage.text("order-vm7"));
  REQUIRE(order);
  CHECK(order->node == "vm2");
  CHECK_FALSE(stage.has("order-vm2"));
}

namespace {

/// A node's part of a dump with a socket at 10.0.0.2, to be restored with these addresses.
NodeOrder order_with(Stage& stage, const char* address) {
  stage.put("files.img", open_files_image({socket_entry("10.0.0.2", "10.0.0.1")}), 0600);
  NodeOrder order = restore_order(stage, dump(stage));
  order.addresses = {*parse_new_address(address)};
  return order;
}

CriuRequest tools_at(const Stage& stage, const char* address) {
  CriuRequest tools = stage.request();
  tools.own_addresses = [address] {
    return std::vector<LocalAddress>{{"eth0", *parse_ip(address), 120}};
  };
  return tools;
}

}  // namespace

TEST_CASE(
    "a node restores by the addresses that it is told, and tells of its relay once it knows") {
  Stage stage;
  const NodeOrder order = order_with(stage, "10.0.0.2=10.0.0.7");
  CriuRequest tools = tools_at(stage, "10.0.0.7");
  int looks = 0;
  tools.find_job = [&stage, &looks] {
    JobHere here = stage.job_here();
    if (++looks == 3) here.relay = "10.0.0.7:4000";
    return Result<JobHere>(here);
  };
  Caller caller{{order_line(order), kGo, kKeep}};
  CHECK(caller.call(tools) == 0);
  CHECK(caller.answers.at(1).relay == "10.0.0.7:4000");
  CHECK(looks == 3);
  CHECK(stage.text("restored-files") == open_files_image({socket_entry("10.0.0.7", "10.0.0.1")}));
}

TEST_CASE("a node whose own addresses stay waits for no relay") {
  Stage stage;
  const NodeOrder order = order_with(stage, "10.0.0.1=10.0.0.9");
  CriuRequest tools = tools_at(stage, "10.0.0.2");
  tools.find_job = [] { return Result<JobHere>(fail(Errc::kNotFound, "it is not to be asked")); };
  Caller caller{{order_line(order), kGo, kKeep}};
  CHECK(caller.call(tools) == 0);
  CHECK(caller.answers.at(1).relay.empty());
  CHECK(stage.text("restored-files") == open_files_image({socket_entry("10.0.0.2", "10.0.0.9")}));
}

TEST_CASE(
    "a node without the new address is named with those that it has, and nothing is put back") {
  Stage stage;
  const NodeOrder order = order_with(stage, "10.0.0.2=10.0.0.7");
  std::filesystem::remove_all(stage.path("job"));
  Caller caller{{order_line(order), kGo, kKeep}};
  CHECK(caller.call(tools_at(stage, "10.0.0.3")) == 5);
  CHECK(caller.answers.at(0).code == 3);
  CHECK(caller.answers.at(0).text.find("10.0.0.7, which") != std::string::npos);
  CHECK(caller.answers.at(0).text.find("(it has 10.0.0.3)") != std::string::npos);
  CHECK_FALSE(stage.has("job"));
  CHECK_FALSE(stage.has("restored"));
}

TEST_CASE("images whose open files cannot be read are no set, and nothing is put back") {
  Stage stage;
  stage.put("files.img", "nothing of CRIU's", 0600);
  const NodeAnswer dumped = dump(stage);
  std::filesystem::remove_all(stage.path("job"));
  Caller caller{{order_line(restore_order(stage, dumped)), kGo}};
  CHECK(caller.call(stage.request()) == 5);
  CHECK(caller.answers.at(0).code == 8);
  CHECK_FALSE(stage.has("job"));
}
