// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/doctor/doctor_test.cc -- faults planted one by one on a sound, played node: each is
// named, by its id and nothing else; on the sound node none is. Launch lines: see line_test.cc.
#include "tests/unit/doctor/node.h"
#include "transports/builtin.h"

using namespace livebtl;
using namespace livebtl::doctor;
using namespace livebtl::test;

namespace {

struct Fault {
  const char* id;
  std::function<void(Node&)> plant;
};

/// Faults of a node, one change each.
const Fault kFaults[] = {
    {"provider-missing", [](Node& n) { n.sight.places.provider = ""; }},
    {"provider-libraries",
     [](Node& n) {
       n.system.ldd(kProvider,
                    "\tliblivebtl.so.0 => " + kLibrary + " (0x0)\n\tlibfabric.so.1 => not found\n");
     }},
    {"provider-not-listed",
     [](Node& n) { n.system.program("/usr/bin/fi_info", "-p livebtl", "fi_getinfo: -61\n"); }},
    {"fi-provider-path", [](Node& n) { n.system.variables["FI_PROVIDER_PATH"] = "/opt/other"; }},
    {"fi-provider", [](Node& n) { n.system.variables["FI_PROVIDER"] = "tcp"; }},
    {"library-version", [](Node& n) { n.system.links[kLibrary] = kLibrary + ".0.9"; }},
    {"relay", [](Node& n) { n.system.texts.erase(std::string(kLib) + "/livebtl/livebtl-relay"); }},
    {"relay", [](Node& n) { n.sight.settings.relay_path = "/opt/no-relay"; }},
    {"open-mpi",
     [](Node& n) {
       n.system.program("/usr/bin/ompi_info", "--version", "error while loading shared libraries");
     }},
    {"open-mpi",  // a component's file is truncated
     [](Node& n) { n.system.exit_codes["/usr/bin/ompi_info --parsable --param mtl ofi"] = -1; }},
    {"component-version",
     [](Node& n) {
       const std::string why =
           serves("\"this component was built for Open MPI 4.1.4 and this is 4.1.5\"");
       n.system.program("/usr/bin/ompi_info", kInfoOfComponent, why);
       n.system.with_path["/usr/bin/ompi_info " + kInfoOfComponent] = why;
     }},
    {"component-libraries",
     [](Node& n) {
       n.system.program("/usr/bin/ompi_info", kInfoOfComponent, "");
       n.system.ldd(kComponent, "\tlibmpi.so.40 => not found\n");
     }},
    {"open-mpi-without-libfabric",
     [](Node& n) {
       n.sight.places.components = "";
       n.system.program("/usr/bin/ompi_info", kInfoOfComponent, "");
       n.system.program("/usr/bin/ompi_info", "--parsable --param mtl ofi", "");
     }},
    {"mca-environment", [](Node& n) { n.system.variables["OMPI_MCA_pml"] = "ob1"; }},
    {"settings",
     [](Node& n) { n.sight.probe.settings_problem = "LIVEBTL_CRC cannot be \"sometimes\""; }},
    {"setting-unknown",
     [](Node& n) { n.sight.probe.setting_warnings = {"\"LIVEBTL_TRANSPORT\" is no setting"}; }},
    {"secret",
     [](Node& n) { n.sight.probe.secret_problem = "LIVEBTL_SECRET_FILE: others may read it"; }},
    {"auth-none", [](Node& n) { n.sight.settings.auth = AuthLevel::kNone; }},
    {"one-node-only",
     [](Node& n) {
       n.sight.settings.transports = {"self", "sm"};
     }},
    {"transport-unknown",
     [](Node& n) {
       n.sight.settings.transports = {"sm", "tcp", "tcpp"};
     }},
    {"transport-unknown", [](Node& n) { n.sight.settings.exclude = {"nonsense"}; }},
    {"transports-none", [](Node& n) { n.sight.settings.transports = {"self"}; }},
    {"transports-none",  // verbs and ofi are opened only where they are named
     [](Node& n) {
       n.sight.settings.exclude = {"sm", "tcp"};
     }},
    {"one-node-only", [](Node& n) { n.sight.settings.exclude = {"tcp"}; }},
    {"sm-unused", [](Node& n) { n.sight.settings.exclude = {"sm"}; }},
    {"mca-file",
     [](Node& n) {
       n.system.program("/usr/bin/ompi_info", "--parsable --param mca base --level 9",
                        "mca:mca:base:param:mca_base_param_files:value:/etc/mca.conf\n");
       n.system.texts["/etc/mca.conf"] = "# pml = a = b\nosc = ^ucx,pt2ptpml = cm\n";
     }},
    {"run-directory",
     [](Node& n) { n.sight.probe.run_problem = "/run/livebtl/1000 belongs to another user"; }},
    {"run-directory-long",
     [](Node& n) { n.sight.probe.run_directory = "/" + std::string(80, 'x'); }},
    {"memlock", [](Node& n) { n.sight.probe.locked_bytes_max = 8u << 20; }},
    {"descriptors", [](Node& n) { n.sight.probe.descriptors_max = 256; }},
    {"shm", [](Node& n) { n.system.texts.erase("/dev/shm/some"); }},
    {"shm", [](Node& n) { n.system.denied.insert("/dev/shm"); }},
    {"shm-small", [](Node& n) { n.sight.probe.shm_free_bytes = 1u << 20; }},
    {"ptrace-scope", [](Node& n) { n.system.texts["/proc/sys/kernel/yama/ptrace_scope"] = "1\n"; }},
    {"single-copy", [](Node& n) { n.sight.probe.single_copy = false; }},
    {"single-copy",
     [](Node& n) {
       n.sight.probe.single_copy = false;
       n.sight.settings.sm_single_copy = SingleCopy::kCma;
       n.system.texts["/dev/knem"] = "";
     }},
    {"knem", [](Node& n) { n.sight.settings.sm_single_copy = SingleCopy::kKnem; }},
    {"membarrier", [](Node& n) { n.sight.probe.membarrier = false; }},
    {"clock",
     [](Node& n) {
       n.system.texts["/sys/devices/system/clocksource/clocksource0/current_clocksource"] =
           "hpet\n";
     }},
    {"namespaces", [](Node& n) { n.system.texts["/proc/self/status"] = "NSpid:\t4711\t12\n"; }},
    {"tcp-interface", [](Node& n) { n.sight.settings.tcp_if = {"eth7"}; }},
    {"tcp-loopback",
     [](Node& n) { n.sight.probe.addresses.erase(n.sight.probe.addresses.begin()); }},
    {"tcp-port", [](Node& n) { n.sight.settings.tcp_port = 80; }},
    {"tcp-port-taken",
     [](Node& n) { n.sight.settings.tcp_port = 4000, n.sight.probe.port_free = false; }},
    {"rdma-library", [](Node& n) { n.sight.probe.verbs_library = false; }},
    {"rdma-device-file", [](Node& n) { n.system.texts.erase("/dev/infiniband/uverbs0"); }},
    {"rdma-permission", [](Node& n) { n.system.denied.insert("/dev/infiniband/uverbs0"); }},
    {"rdma-port", [](Node& n) { n.system.texts[kDevice + "/ports/1/state"] = "1: DOWN\n"; }},
    {"rdma-address",
     [](Node& n) {
       n.system.texts[kDevice + "/ports/1/gids/0"] = "0000:0000:0000:0000:0000:0000:0000:0000\n";
     }},
    {"rdma-interface", [](Node& n) { n.system.texts.erase("/sys/class/net/eth1/mtu"); }},
    {"rdma-mtu", [](Node& n) { n.system.texts["/sys/class/net/eth1/mtu"] = "1000\n"; }},
    {"verbs-device", [](Node& n) { n.sight.settings.verbs_device = "mlx5_1:1"; }},
    {"rdma-held", [](Node& n) { n.sight.probe.device_holders = {"process 12 (ib_write_bw)"}; }},
};

}  // namespace

TEST_CASE("on a sound node nothing is named, with an RDMA card and without") {
  Node node;
  CHECK(node.found().empty());
  std::erase_if(node.system.texts,
                [](const auto& each) { return each.first.starts_with(kDevice); });
  CHECK(node.found().empty());
  node.sight.probe.locked_bytes_max = 8u << 20;  // it does not matter without a card
  CHECK(node.found().empty());
}

TEST_CASE("livebtl-run mends FI_PROVIDER_PATH for its job") {
  Node node;
  node.system.variables["FI_PROVIDER_PATH"] = "/opt/other";
  REQUIRE(node.found().size() == 1);
  node.sight.by_run = true;
  CHECK(node.found().empty());
}

TEST_CASE("a card reaches other nodes without tcp, if verbs is named") {
  Node node;
  node.sight.settings.transports = {"sm", "verbs"};
  CHECK(node.found().empty());
  std::erase_if(node.system.texts,
                [](const auto& each) { return each.first.starts_with(kDevice); });
  CHECK(node.found() == std::vector<std::string>{"one-node-only"});
}

TEST_CASE("where /dev/knem can be used, nothing is amiss with single copies") {
  Node node;
  node.system.texts["/proc/sys/kernel/yama/ptrace_scope"] = "1\n";
  node.sight.probe.single_copy = false;
  REQUIRE(node.found().size() == 1);
  node.system.texts["/dev/knem"] = "";
  for (const SingleCopy way : {SingleCopy::kAuto, SingleCopy::kKnem}) {
    node.sight.settings.sm_single_copy = way;
    CHECK(node.found().empty());
  }
  node.system.denied.insert("/dev/knem");
  CHECK(node.found().size() == 1);
}

TEST_CASE("the transports that doctor knows are those of the library") {
  for (const core::TransportKind& kind : transports::builtin()) {
    CHECK(is_transport(kind.name));
    CHECK((kind.alias.empty() || is_transport(kind.alias)));
  }
  CHECK(is_transport("ofi:tcp;ofi_rxm"));
  for (const char* name : {"", "ofi:", "nonsense"}) CHECK_FALSE(is_transport(name));
}

TEST_CASE("each fault of a node is named, and nothing else") {
  for (const Fault& fault : kFaults) {
    Node node;
    fault.plant(node);
    CHECK_MESSAGE(node.found() == std::vector<std::string>{fault.id}, fault.id);
  }
}

TEST_CASE("of a wrong setting it is told how to find the file or the variable that has it") {
  for (const Fault& fault : kFaults) {
    const std::string id = fault.id;
    if (id != "transport-unknown" && id != "tcp-interface") continue;
    Node node;
    fault.plant(node);
    Report report;
    check_node(node.sight, report);
    REQUIRE(report.findings.size() == 1);
    CHECK(report.findings.front().action.find("btlctl settings") != std::string::npos);
  }
}

TEST_CASE(
    "a card of InfiniBand has no network interface, and a container without Open MPI is sound") {
  Node node;
  node.system.texts[kDevice + "/ports/1/link_layer"] = "InfiniBand\n";
  node.system.texts.erase("/sys/class/net/eth1/mtu");
  CHECK(node.found().empty());
  node.system.texts.erase("/usr/bin/ompi_info");
  CHECK(node.found().empty());
}
