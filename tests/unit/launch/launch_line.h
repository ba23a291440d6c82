// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/launch/launch_line.h -- a launch line on a played machine, and the result.
#pragma once

#include "launch/plan.h"
#include "played_system.h"

namespace livebtl::test {

using namespace livebtl::launch;

inline const std::string kOurs = std::string(kLib) + "/libfabric";
inline const std::string kComponents = std::string(kLib) + "/livebtl/openmpi";
inline const std::string kBuilt = "/src/build/lib";

struct Line {
  PlayedSystem system;
  Wishes wishes;
  bool file_transports = false;
  Places places{kOurs, kComponents};

  Line() { make_sound(system); }

  Result<Plan> plan(const std::vector<std::string>& words) const {
    return make_plan(system, places, words, wishes, file_transports);
  }
  /// The line as for a shell, or what is wrong.
  std::string shown(const std::vector<std::string>& words) const {
    const auto made = plan(words);
    return made ? as_shell_line(*made) : made.error().text;
  }
  Errc refusal(const std::vector<std::string>& words) const {
    const auto made = plan(words);
    return made ? Errc::kOk : made.error().code;
  }
  /// As in a build tree: nobody finds the provider, and Open MPI looks elsewhere for components.
  void from_build_tree() {
    places = {kBuilt, kBuilt + "/openmpi"};
    system.program("/usr/bin/ompi_info", kInfoOfComponent, "");
    system.with_path["/usr/bin/ompi_info " + kInfoOfComponent] = serves("yes");
    system.ldd(kBuilt + "/liblivebtl-fi.so",
               "\tlibfabric.so.1 => " + std::string(kLib) + "/libfabric.so.1 (0x0)\n");
    system.ldd(kBuilt + "/openmpi/mca_pml_livebtl.so", "");
  }
  void with_open_mpi_5() {
    system.program("/usr/bin/mpirun", "--version", "mpirun (Open MPI) 5.0.7\n");
    system.program("/usr/bin/ompi_info", "--version", "Open MPI v5.0.7\n");
    system.with_path["/usr/bin/ompi_info " + kInfoOfComponent] = serves("yes");
  }
  void with_device(const std::string& state = "4: ACTIVE") {
    system.texts["/sys/class/infiniband/mlx5_0/ports/1/state"] = state + "\n";
    system.texts["/sys/class/infiniband/mlx5_0/ports/1/link_layer"] = "InfiniBand\n";
  }
  void with_mpich(const std::string& device) {
    system.program("/opt/mpich/bin/mpiexec", "--version",
                   "HYDRA build details:\n    Version:    4.0.2\n");
    system.program("/opt/mpich/bin/mpichversion", "",
                   "MPICH Version:    4.0.2\nMPICH Device:\t" + device + "\n");
  }
  void without_component() {
    places.components = "";
    system.program("/usr/bin/ompi_info", kInfoOfComponent, "");
  }
};

inline const std::vector<std::string> kJob = {"mpirun", "-n", "4", "./program", "an argument"};

}  // namespace livebtl::test
