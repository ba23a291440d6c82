// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/doctor/line_test.cc -- faults of launch lines, planted one by one: each is named, by
// its id and nothing else.
#include "tests/unit/doctor/node.h"

using namespace livebtl;
using namespace livebtl::doctor;
using namespace livebtl::test;

namespace {

const std::vector<std::string> kRun = {"livebtl-run", "mpirun", "-n", "4", "./program"};

/// A fault of a launch line, one change each.
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
    {"line-program", {"livebtl-run", "mpirun", "-n", "4", "./progam"}},
    {"line-program", {"livebtl-run", "mpirun", "-n", "4"}},
    {"line-root", kRun, [](Node& n) { n.sight.probe.root = true; }},
};

}  // namespace

TEST_CASE("each fault of a launch line is named, and nothing else; none on a sound one") {
  Node sound;
  CHECK(sound.found_in(kRun).empty());
  CHECK(sound.found_in({"livebtl-run", "mpirun", "--host", "a,b", "./program"}).empty());
  Node slurm;
  slurm.system.program("/usr/bin/srun", "--version", "slurm-wlm 22.05.8\n");
  for (const char* mpi : {"--mpi=pmix", "--mpi=pmi2", "--label"})
    CHECK(slurm.found_in({"livebtl-run", "srun", mpi, "-N", "2", "./program"}).empty());
  slurm.system.variables["SLURM_MPI_TYPE"] = "pmix_v4";
  CHECK(slurm.found_in({"livebtl-run", "srun", "-N", "2", "./program"}).empty());
  Node site;
  const std::string file = "/etc/openmpi/openmpi-mca-params.conf";
  site.system.program("/usr/bin/ompi_info", "--parsable --param mca base --level 9",
                      "mca:mca:base:param:mca_base_param_files:value:/home/x/.openmpi/p," + file);
  site.system.texts[file] =
      "# site\npml = ob1\npml=cm\n mtl = ofi\n"
      "opal_common_ofi_provider_include = livebtl\n";
  CHECK(site.found_in({"mpirun", "-n", "4", "./program"}).empty());
  site.system.texts[file] += "pml = ob1\n";
  CHECK(site.found_in({"mpirun", "-n", "4", "./program"}) ==
        std::vector<std::string>{"line-without"});
  for (const LineFault& fault : kLineFaults) {
    Node node;
    fault.plant(node);
    CHECK_MESSAGE(node.found_in(fault.line) == std::vector<std::string>{fault.id}, fault.id);
  }
}

TEST_CASE("a launcher that gives no secret is a fault, unless there is one all the same") {
  const std::vector<std::string> line = {"srun", "--mpi=pmi2", "-N", "2", "./program"};
  const auto found = [&line](const std::function<void(Node&)>& plant) {
    Node node;
    node.system.program("/usr/bin/srun", "--version", "slurm-wlm 22.05.8\n");
    plant(node);
    const auto faults = node.found_in(line);
    return std::find(faults.begin(), faults.end(), "line-secret") != faults.end();
  };
  CHECK(found([](Node&) {}));
  CHECK_FALSE(found([](Node& n) { n.sight.settings.secret_file = "/home/x/secret"; }));
  CHECK_FALSE(found([](Node& n) { n.sight.settings.secret_fd = 3; }));
  CHECK_FALSE(found([](Node& n) { n.sight.settings.seed = "some"; }));
}

TEST_CASE("a line that chooses livebtl by itself needs no livebtl-run") {
  Node node;
  CHECK(node.found_in({"mpirun", "--mca", "pml", "livebtl", "./program"}).empty());
  node.system.variables["OMPI_MCA_pml"] = "livebtl";
  CHECK(node.found_in({"mpirun", "./program"}).empty());
}
