// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/launch/plan_test.cc -- what is set for a launch line, on played machines.
#include <doctest/doctest.h>

#include "launch_line.h"

using namespace livebtl;
using namespace livebtl::launch;
using namespace livebtl::test;

TEST_CASE("installed, Open MPI 4.1 needs one variable, and the words of the line are kept") {
  Line line;
  CHECK(line.shown(kJob) == "OMPI_MCA_pml=livebtl mpirun -n 4 ./program 'an argument'");
  CHECK(line.plan(kJob)->door == Door::kComponent);
}

TEST_CASE("from a build tree the component's folder is named, behind what the user has there") {
  Line line;
  line.from_build_tree();
  CHECK(
      line.shown(kJob) ==
      "OMPI_MCA_mca_base_component_path=SYSTEM_DEFAULT:/src/build/lib/openmpi OMPI_MCA_pml=livebtl "
      "mpirun -n 4 ./program 'an argument'");
  line.system.variables["OMPI_MCA_mca_base_component_path"] = "/mine";
  CHECK(line.shown(kJob).starts_with(
      "OMPI_MCA_mca_base_component_path=/mine:/src/build/lib/openmpi "));
}

TEST_CASE("Open MPI 5 is told the folder wherever it lies") {
  Line line;
  line.with_open_mpi_5();
  CHECK(line.shown(kJob).starts_with(
      "OMPI_MCA_mca_base_component_path=" + kComponents +
      " PMIX_MCA_mca_base_component_show_load_errors=none OMPI_MCA_pml=livebtl "));
}

TEST_CASE(
    "PMIx of Open MPI 5 is kept from complaints about that folder, unless somebody wants them") {
  Line line;
  line.with_open_mpi_5();
  line.system.variables["PMIX_MCA_mca_base_component_show_load_errors"] = "all";
  CHECK(line.shown(kJob).starts_with("OMPI_MCA_mca_base_component_path=" + kComponents +
                                     " OMPI_MCA_pml=livebtl "));
}

TEST_CASE("where Open MPI cannot use the component the provider serves, and it is said why") {
  Line line;
  const std::string why = "this component was built for Open MPI 4.1.4 and this is 4.1.5";
  line.system.program("/usr/bin/ompi_info", kInfoOfComponent, serves("\"" + why + "\""));
  line.system.with_path["/usr/bin/ompi_info " + kInfoOfComponent] = serves("\"" + why + "\"");
  const auto plan = line.plan(kJob);
  REQUIRE(plan);
  CHECK(plan->door == Door::kProvider);
  CHECK(plan->why_provider == why);
  CHECK(as_shell_line(*plan) ==
        "OMPI_MCA_pml=cm OMPI_MCA_mtl=ofi OMPI_MCA_opal_common_ofi_provider_include=livebtl "
        "mpirun -n 4 ./program 'an argument'");
  line.wishes.door = Door::kComponent;
  CHECK(line.shown(kJob) == why);
}

TEST_CASE(
    "the provider's folder is named where libfabric would not look, and is passed on in every part "
    "of a line") {
  Line line;
  line.from_build_tree();
  line.wishes.door = Door::kProvider;
  line.system.variables["LIVEBTL_LOG"] = "info";
  line.system.variables["LIVEBTL_TCP_IF"] = "eth0";
  CHECK(line.shown({"mpirun", "-x", "LIVEBTL_TCP_IF", "-n", "1", "./program", ":", "-n", "1",
                    "./program"}) ==
        "FI_PROVIDER_PATH=/src/build/lib OMPI_MCA_pml=cm OMPI_MCA_mtl=ofi "
        "OMPI_MCA_opal_common_ofi_provider_include=livebtl mpirun -x FI_PROVIDER_PATH -x "
        "LIVEBTL_LOG -x LIVEBTL_TCP_IF -n 1 ./program : -x FI_PROVIDER_PATH -x LIVEBTL_TCP_IF -x "
        "LIVEBTL_LOG -n 1 ./program");
  line.system.variables["FI_PROVIDER_PATH"] = "/other";
  CHECK(line.plan(kJob)->variables.front().second == "/src/build/lib:/other");
}

TEST_CASE("one-sided operations go over livebtl by the provider, beside either door") {
  Line line;
  line.wishes.one_sided = true;
  CHECK(line.shown(kJob) ==
        "OMPI_MCA_pml=livebtl OMPI_MCA_opal_common_ofi_provider_include=livebtl "
        "OMPI_MCA_btl=self,ofi "
        "OMPI_MCA_osc=rdma mpirun -n 4 ./program 'an argument'");
  line.wishes.door = Door::kProvider;
  line.with_open_mpi_5();
  CHECK(line.shown(kJob).starts_with("OMPI_MCA_pml='^ucx' OMPI_MCA_mtl=ofi "));
}

TEST_CASE("what the user says otherwise is named, and nothing is set against it") {
  Line line;
  CHECK(line.refusal({"mpirun", "--mca", "pml", "ob1", "./program"}) == Errc::kInvalid);
  CHECK(line.shown({"mpirun", "--mca", "pml", "livebtl", "./program"}) ==
        "mpirun --mca pml livebtl ./program");
  line.system.variables["OMPI_MCA_pml"] = "ucx";
  CHECK(line.shown(kJob).find("OMPI_MCA_pml is set to ucx") == 0);
  line.system.variables.erase("OMPI_MCA_pml");
  line.wishes.door = Door::kProvider;
  line.system.variables["OMPI_MCA_mtl"] = "^ofi";
  CHECK(line.refusal(kJob) == Errc::kInvalid);
  line.system.variables.erase("OMPI_MCA_mtl");
  for (const char* keeps_away : {"tcp", "^livebtl"}) {
    line.system.variables["FI_PROVIDER"] = keeps_away;
    CHECK(line.refusal(kJob) == Errc::kInvalid);
  }
  for (const char* leaves : {"livebtl", "tcp,livebtl", "^verbs", ""}) {
    line.system.variables["FI_PROVIDER"] = leaves;
    CHECK(line.refusal(kJob) == Errc::kOk);
  }
}

TEST_CASE("what chooses another provider by other names is named, too") {
  Line line;
  line.wishes.door = Door::kProvider;
  CHECK(line.refusal({"mpirun", "-x", "FI_PROVIDER=tcp", "./program"}) == Errc::kInvalid);
  CHECK(line.refusal({"mpirun", "-x", "FI_PROVIDER=livebtl", "./program"}) == Errc::kOk);
  const std::vector<std::string> words = {"mpirun", "--mca", "mtl_ofi_provider_include", "tcp",
                                          "./program"};
  CHECK(line.shown(words).find("mtl_ofi_provider_include is tcp") != std::string::npos);
  for (const char* name :
       {"OMPI_MCA_mtl_ofi_provider_include", "OMPI_MCA_mtl_ofi_provider_exclude",
        "OMPI_MCA_btl_ofi_provider_include", "OMPI_MCA_opal_common_ofi_provider_exclude"}) {
    CAPTURE(name);
    line.system.variables[name] = "tcp";
    CHECK(line.refusal(kJob) == Errc::kInvalid);
    line.system.variables.erase(name);
  }
  line.system.variables["OMPI_MCA_mtl_ofi_provider_include"] = "livebtl";
  CHECK(line.refusal(kJob) == Errc::kOk);
}

TEST_CASE("an RDMA device with an active port is used, unless something else is said") {
  Line line;
  line.with_device();
  CHECK(line.shown(kJob) ==
        "OMPI_MCA_pml=livebtl LIVEBTL_TRANSPORTS=+verbs mpirun -x LIVEBTL_TRANSPORTS -n 4 "
        "./program 'an argument'");
  line.file_transports = true;
  CHECK(line.shown(kJob).find("TRANSPORTS") == std::string::npos);
  line.file_transports = false;
  line.system.variables["LIVEBTL_TRANSPORTS"] = "self,tcp";
  CHECK(line.shown(kJob).find("+verbs") == std::string::npos);
  line.system.variables.erase("LIVEBTL_TRANSPORTS");
  line.with_device("1: DOWN");
  CHECK(line.shown(kJob).find("+verbs") == std::string::npos);
  line.with_device();
  line.system.texts["/sys/class/infiniband/mlx5_0/ports/1/link_layer"] =
      "Ethernet\n";  // RoCE without an address
  line.system.texts["/sys/class/infiniband/mlx5_0/ports/1/gids/0"] =
      "0000:0000:0000:0000:0000:0000:0000:0000\n";
  CHECK(line.shown(kJob).find("+verbs") == std::string::npos);
}
