// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/doctor/doctor_test.cc -- faults planted one by one on a sound node that is played: each is named, by its id
// and nothing else, and on the sound node none is.
#include <doctest/doctest.h>

#include <functional>

#include "doctor/sight.h"
#include "tests/unit/launch/played_system.h"

using namespace livebtl;
using namespace livebtl::doctor;
using namespace livebtl::test;

namespace {

const std::string kLibrary = std::string(kLib) + "/liblivebtl.so.0";
const std::string kProvider = std::string(kLib) + "/libfabric/liblivebtl-fi.so";
const std::string kComponent = std::string(kLib) + "/livebtl/openmpi/mca_pml_livebtl.so";
const std::string kDevice = "/sys/class/infiniband/mlx5_0";

struct Node {
  PlayedSystem system;
  Sight sight{system,
              {std::string(kLib) + "/libfabric", std::string(kLib) + "/livebtl/openmpi"},
              {},
              {},
              "0.1.0"};

  Node() {
    make_sound(system);
    system.links[kLibrary] = kLibrary + ".1.0";
    system.texts[std::string(kLib) + "/livebtl/livebtl-relay"] = "";
    system.program("/usr/bin/fi_info", "-p livebtl", "provider: livebtl\n");
    system.texts["/dev/shm/some"] = "";
    system.texts["/proc/self/status"] = "Name:\tbtlctl\nNSpid:\t4711\n";
    system.texts["/proc/sys/kernel/yama/ptrace_scope"] = "0\n";
    system.texts["/sys/devices/system/clocksource/clocksource0/current_clocksource"] = "tsc\n";
    sight.probe.locked_bytes_max = UINT64_MAX;
    sight.probe.descriptors_max = 20'000;
    sight.probe.shm_free_bytes = 1u << 30;
    sight.probe.run_directory = "/run/user/1000/livebtl";
    sight.probe.addresses = {{"eth0", *parse_ip("10.1.0.1"), 120},
                             {"lo", *parse_ip("127.0.0.1"), 104}};
    plug_card();
  }
  /// A RoCE card that can be used.
  void plug_card() {
    system.texts[kDevice + "/device/infiniband_verbs/uverbs0"] = "";
    system.texts["/dev/infiniband/uverbs0"] = "";
    system.texts[kDevice + "/ports/1/state"] = "4: ACTIVE\n";
    system.texts[kDevice + "/ports/1/link_layer"] = "Ethernet\n";
    system.texts[kDevice + "/ports/1/gids/0"] = "fe80:0000:0000:0000:5054:00ff:fe12:3456\n";
    system.texts[kDevice + "/ports/1/gid_attrs/ndevs/0"] = "eth1\n";
    system.texts["/sys/class/net/eth1/mtu"] = "4200\n";
  }
  std::vector<std::string> found() const {
    Report report;
    check_node(sight, report);
    return ids(report);
  }
  /// "livebtl-run" in front of a line is no word of it.
  std::vector<std::string> found_in(std::vector<std::string> line) const {
    Report report;
    const launch::Wishes wishes;
    const bool by_run = line.front() == "livebtl-run";
    if (by_run) line.erase(line.begin());
    check_line(sight, line, by_run ? &wishes : nullptr, report);
    return ids(report);
  }
  /// Every finding says all three things, in words.
  static std::vector<std::string> ids(const Report& report) {
    std::vector<std::string> found;
    for (const Finding& each : report.findings) {
      CHECK_MESSAGE((each.what.size() > 8 && each.why.size() > 8 && each.action.size() > 8),
                    each.id);
      found.push_back(each.id);
    }
    return found;
  }
};

struct Fault {
  const char* id;
  std::function<void(Node&)> plant;
};

/// What is wrong with a node, one thing each.
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

const std::vector<std::string> kRun = {"livebtl-run", "mpirun", "-n", "4", "./program"};

/// What is wrong with a launch line, one thing each.
struct LineFault {
  const char* id;
  std::vector<std::string> line;
  std::function<void(Node&)> plant = [](Node&) {};
};
const LineFault kLineFaults[] = {
    {"line-launcher", {"livebtl-run", "mpirum", "-n", "4", "./program"}},
    {"line-without", {"mpirun", "-n", "4", "./program"}},
    {"line-contradicts", {"livebtl-run", "mpirun", "--mca", "pml", "ob1", "./program"}},
    {"line-contradicts", kRun, [](Node& n) { n.system.variables["OMPI_MCA_pml"] = "^livebtl"; }},
    {"line-cannot", kRun,
     [](Node& n) { n.system.ldd("./program", "\tlibmpich.so.12 => /opt/libmpich.so.12 (0x0)\n"); }},
    {"line-root", kRun, [](Node& n) { n.sight.probe.root = true; }},
    {"line-secret",
     {"livebtl-run", "srun", "-N", "2", "./program"},
     [](Node& n) { n.system.program("/usr/bin/srun", "--version", "slurm-wlm 22.05.8\n"); }},
    {"line-secret",
     {"livebtl-run", "srun", "--mpi=pmi2", "-N", "2", "./program"},
     [](Node& n) { n.system.program("/usr/bin/srun", "--version", "slurm-wlm 22.05.8\n"); }},
};

}  // namespace

TEST_CASE("on a sound node nothing is named, with an RDMA card and without") {
  Node node;
  CHECK(node.found().empty());
  std::erase_if(node.system.texts,
                [](const auto& each) { return each.first.starts_with(kDevice); });
  CHECK(node.found().empty());
  node.sight.probe.locked_bytes_max = 8u << 20;  // of no account without a card
  CHECK(node.found().empty());
}

TEST_CASE("each fault of a node is named, and nothing else") {
  for (const Fault& fault : kFaults) {
    Node node;
    fault.plant(node);
    CHECK_MESSAGE(node.found() == std::vector<std::string>{fault.id}, fault.id);
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

TEST_CASE("each fault of a launch line is named, and nothing else; none on a sound one") {
  Node sound;
  CHECK(sound.found_in(kRun).empty());
  CHECK(sound.found_in({"livebtl-run", "mpirun", "--host", "a,b", "./program"}).empty());
  Node slurm;
  slurm.system.program("/usr/bin/srun", "--version", "slurm-wlm 22.05.8\n");
  CHECK(slurm.found_in({"livebtl-run", "srun", "--mpi=pmix", "-N", "2", "./program"}).empty());
  slurm.system.variables["SLURM_MPI_TYPE"] = "pmix_v4";
  CHECK(slurm.found_in({"livebtl-run", "srun", "-N", "2", "./program"}).empty());
  for (const LineFault& fault : kLineFaults) {
    Node node;
    fault.plant(node);
    CHECK_MESSAGE(node.found_in(fault.line) == std::vector<std::string>{fault.id}, fault.id);
  }
}

TEST_CASE("a line that chooses livebtl by itself needs no livebtl-run") {
  Node node;
  CHECK(node.found_in({"mpirun", "--mca", "pml", "livebtl", "./program"}).empty());
  node.system.variables["OMPI_MCA_pml"] = "livebtl";
  CHECK(node.found_in({"mpirun", "./program"}).empty());
}
