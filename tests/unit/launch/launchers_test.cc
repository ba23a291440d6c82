// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/launch/launchers_test.cc -- launchers and MPIs of every kind, and those that are refused.
#include <doctest/doctest.h>

#include "launch_line.h"

using namespace livebtl;
using namespace livebtl::launch;
using namespace livebtl::test;

namespace {

/// The text with which the shell makes the seed: random, and on no page.
const std::string kSeed = "LIVEBTL_SEED=$(od -A n -t x1 -v -N 32 /dev/urandom | tr -d ' \\n') ";

}  // namespace

TEST_CASE("no such launcher, and launchers that are none or another's") {
  Line line;
  CHECK(line.refusal({"mpirum", "./program"}) == Errc::kNotFound);
  line.system.program("/usr/bin/python3", "--version", "Python 3.11.2\n");
  CHECK(line.refusal({"python3", "./program"}) == Errc::kUnsupported);
  line.system.program("/opt/intel/mpirun", "--version",
                      "Intel(R) MPI Library for Linux* OS, Version 2021.10\n");
  CHECK(line.shown({"/opt/intel/mpirun", "./program"}).find("Intel") != std::string::npos);
}

TEST_CASE("a launcher that fails is told with what it says, and not as one that nobody knows") {
  Line line;
  line.system.program("/usr/bin/srun", "--version",
                      "srun: error: resolve_ctls_from_dns_srv: Unknown host\n"
                      "srun: fatal: Could not establish a configuration source\n\n");
  line.system.exit_codes["/usr/bin/srun --version"] = 1;
  CHECK(line.refusal({"srun", "./program"}) == Errc::kUnsupported);
  const std::string said = line.shown({"srun", "./program"});
  CHECK_MESSAGE(said.find("`srun --version` fails") != std::string::npos, said);
  CHECK_MESSAGE(
      said.find("fatal: Could not establish a configuration source;") != std::string::npos, said);
  CHECK(said.find("no launcher that is known") == std::string::npos);
}

TEST_CASE("an Open MPI that cannot: without libfabric, without ompi_info, of another program") {
  Line line;
  line.without_component();
  line.system.program("/usr/bin/ompi_info", "--parsable --param mtl ofi", "");
  CHECK(line.shown(kJob).find("built without libfabric") != std::string::npos);

  Line other;
  other.system.texts["/opt/lib/libmpi.so.40"] = "";
  other.system.ldd("./program", "\tlibmpi.so.40 => /opt/lib/libmpi.so.40 (0x0)\n");
  CHECK(other.shown(kJob).find("use the launcher of the same Open MPI") != std::string::npos);
  other.system.ldd("./program", "\tlibmpich.so.12 => /opt/lib/libmpich.so.12 (0x0)\n");
  CHECK(other.shown(kJob).find("is linked with MPICH") != std::string::npos);
  other.system.texts.erase("/usr/bin/ompi_info");
  CHECK(other.shown(kJob).find("there is no ompi_info") != std::string::npos);
}

TEST_CASE("a provider that is not there, or cannot be loaded, is no door") {
  Line line;
  line.wishes.door = Door::kProvider;
  line.places.provider = "";
  CHECK(line.refusal(kJob) == Errc::kNotFound);
  Line other;
  other.wishes.door = Door::kProvider;
  other.system.ldd(kOurs + "/liblivebtl-fi.so", "\tlibsodium.so.23 => not found\n");
  CHECK(other.shown(kJob).find("it needs libsodium.so.23") != std::string::npos);
}

TEST_CASE("MPICH takes the provider if it has libfabric, and nothing else does") {
  Line line;
  line.with_mpich("ch4:ofi");
  CHECK(line.shown({"/opt/mpich/bin/mpiexec", "-n", "2", "prog"}) ==
        "FI_PROVIDER=livebtl MPIR_CVAR_NOLOCAL=1 " + kSeed + "/opt/mpich/bin/mpiexec -n 2 prog");
  line.wishes.door = Door::kComponent;
  CHECK(line.refusal({"/opt/mpich/bin/mpiexec", "prog"}) == Errc::kUnsupported);
  line.wishes.door = {};
  line.with_mpich("ch4:ucx");
  CHECK(line.shown({"/opt/mpich/bin/mpiexec", "prog"}).find("MPICH without libfabric (ch4:ucx)") !=
        std::string::npos);
  CHECK(line.shown({"/opt/mpich/bin/mpiexec", "./program"}).find("is linked with Open MPI") !=
        std::string::npos);
}

TEST_CASE("what Hydra's own words, or a variable, keep from the program is refused") {
  Line line;
  line.with_mpich("ch4:ofi");
  const std::string mpiexec = "/opt/mpich/bin/mpiexec";
  CHECK(line.refusal({mpiexec, "-genv", "FI_PROVIDER", "tcp", "prog"}) == Errc::kInvalid);
  CHECK(line.refusal({mpiexec, "-env", "FI_PROVIDER", "livebtl", "prog"}) == Errc::kOk);
  CHECK(line.refusal({mpiexec, "-genvnone", "prog"}) == Errc::kInvalid);
  CHECK(line.refusal({mpiexec, "-genvlist", "PATH", "prog"}) == Errc::kInvalid);
  CHECK(line.refusal({mpiexec, "-genv", "MPIR_CVAR_NOLOCAL", "0", "prog"}) == Errc::kInvalid);
  line.system.variables["MPIR_CVAR_NOLOCAL"] = "0";
  CHECK(line.refusal({mpiexec, "prog"}) == Errc::kInvalid);
}

TEST_CASE("only what is named like a launcher is run to be asked what it is") {
  Line line;
  for (const std::string path : {"/usr/bin/mpirun.openmpi", "/usr/bin/mpirun-4.1", "/opt/job.sh",
                                 "/opt/mympirun", "/opt/mpirun.sh", "/opt/mpirun_all"})
    line.system.program(path, "--version", "mpirun.openmpi (Open MPI) 4.1.4\n");
  CHECK(line.refusal({"mpirun.openmpi", "./program"}) == Errc::kOk);
  CHECK(line.refusal({"mpirun-4.1", "./program"}) == Errc::kOk);
  for (const char* own : {"/opt/job.sh", "/opt/mympirun", "/opt/mpirun.sh", "/opt/mpirun_all"})
    CHECK(line.refusal({own, "./program"}) == Errc::kUnsupported);
}

TEST_CASE("under srun the program says which MPI it is, and has to be given variables") {
  Line line;
  line.system.program("/usr/bin/srun", "--version", "slurm-wlm 22.05.8\n");
  CHECK(line.shown({"srun", "-n", "4", "./program"}) ==
        "OMPI_MCA_pml=livebtl " + kSeed + "srun -n 4 ./program");
  line.system.ldd("./mpich-program",
                  "\tlibmpich.so.12 => /opt/lib/libmpich.so.12 (0x0)\n\tlibfabric.so.1 => "
                  "/usr/lib/x86_64-linux-gnu/libfabric.so.1 (0x0)\n");
  CHECK(line.shown({"srun", "./mpich-program"}) ==
        "FI_PROVIDER=livebtl MPIR_CVAR_NOLOCAL=1 " + kSeed + "srun ./mpich-program");
  for (const std::string withheld : {"NONE", "NIL", "PATH,HOME", ""}) {
    CAPTURE(withheld);
    CHECK(line.refusal({"srun", "--export=" + withheld, "./program"}) == Errc::kInvalid);
    CHECK(line.refusal({"srun", "--export", withheld, "./program"}) == Errc::kInvalid);
  }
  CHECK(line.refusal({"srun", "--export=PATH,ALL", "./program"}) == Errc::kOk);
  CHECK(line.refusal({"srun", "./program", "--export", "table.csv"}) == Errc::kOk);
  line.system.variables["SLURM_EXPORT_ENV"] = "NONE";
  CHECK(line.refusal({"srun", "./program"}) == Errc::kInvalid);
  CHECK(line.refusal({"srun", "--export=ALL,A=1", "./program"}) == Errc::kOk);
  line.system.variables.erase("SLURM_EXPORT_ENV");
  line.system.texts.erase("/usr/bin/ompi_info");
  CHECK(line.refusal({"srun", "./script"}) == Errc::kUnsupported);
}

TEST_CASE("a seed is given where the launcher has none, unless the user gives a secret") {
  Line line;
  CHECK_FALSE(line.plan(kJob)->needs_seed);
  line.system.program("/usr/bin/srun", "--version", "slurm-wlm 22.05.8\n");
  const std::vector<std::string> words = {"srun", "./program"};
  CHECK(line.plan(words)->needs_seed);
  for (const char* given : {"LIVEBTL_SECRET_FD", "FI_LIVEBTL_SECRET_FILE", "LIVEBTL_SEED"}) {
    line.system.variables[given] = "something";
    CHECK_FALSE(line.plan(words)->needs_seed);
    line.system.variables[given] = "";
  }
  CHECK(line.plan(words)->needs_seed);
}

TEST_CASE("what is shown can be copied into a shell") {
  CHECK(shell_quoted("plain-1.0_x/y:z,w") == "plain-1.0_x/y:z,w");
  CHECK(shell_quoted("") == "''");
  CHECK(shell_quoted("a'b $c") == "'a'\\''b $c'");
  CHECK(shell_quoted("A=b") == "'A=b'");
}
