// SPDX-License-Identifier: BSD-3-Clause
// control/place/launcher.h -- what the launcher (mpirun, srun, mpiexec) said about this process.
//
// Pure: the environment is an argument. A family of spawned jobs is one job: Open MPI gives all of
// it the same OMPI_MCA_orte_precondition_transports, and nothing else that a singleton and its
// children have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "livebtl/result.h"

namespace livebtl::control {

using Lookup = std::function<std::optional<std::string>(std::string_view)>;

struct LauncherFacts {
  std::string job;              // empty: no launcher, a job of one
  std::uint32_t announced = 1;  // initial ranks; 0 for a spawned process, which adds itself
  bool one_node = false;        // all initial ranks are on this node
  int rank = -1;
  std::string place;  // for people: "rank 3", "rank 0 of world 2"; empty: not known
  std::string seed;   // known only to the job's processes; the secret is made from it; empty: none
};

/// at_start: looks in the environment that the process was started with. manager_id: names the
/// process manager above this process if the environment has no job id (MPICH's hydra). Errors:
/// kInvalid, naming the malformed variable.
Result<LauncherFacts> read_launcher(const Lookup& lookup, const Lookup& at_start,
                                    const std::function<std::string()>& manager_id);

/// The nearest ancestor that is a process manager, by process number and start time; else the
/// parent.
std::string process_manager_id();

/// Replaces a process manager's name, which only one node knows: made from what the processes are
/// given.
std::string name_by(std::string_view seed);

/// Looks up a name in "NAME=value" texts that each end with a zero byte, as in /proc/self/environ.
std::optional<std::string> find_variable(std::string_view environment, std::string_view name);

/// At most 64 of [A-Za-z0-9._-], the first a letter or digit.
bool valid_job_id(std::string_view id) noexcept;

}  // namespace livebtl::control
