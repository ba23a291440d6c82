// SPDX-License-Identifier: BSD-3-Clause
// control/place/launcher.h -- what did the launcher (mpirun, srun, mpiexec) say about this process?
//
// Pure: the environment is an argument. One family of spawned jobs is one job: Open MPI gives all
// of it the same OMPI_MCA_orte_precondition_transports, and nothing else that is common to a
// singleton and its children.
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
  std::string seed;   // known to the job's processes alone: the secret is made from it; empty: none
};

/// at_start: of the environment with which the process was started. manager_id: names the process manager above this process where the environment has no job id
/// (MPICH's hydra). Errors: kInvalid, with the variable that is malformed.
Result<LauncherFacts> read_launcher(const Lookup& lookup, const Lookup& at_start,
                                    const std::function<std::string()>& manager_id);

/// The nearest ancestor that is a process manager, by process number and start time; else the
/// parent.
std::string process_manager_id();

/// In place of a process manager's name, which one node alone knows: made from what the processes are given.
std::string name_by(std::string_view seed);

/// What such a lookup finds in "NAME=value" texts that end with a zero byte each, as /proc/self/environ holds them.
std::optional<std::string> find_variable(std::string_view environment, std::string_view name);

/// At most 64 of [A-Za-z0-9._-], the first a letter or digit.
bool valid_job_id(std::string_view id) noexcept;

}  // namespace livebtl::control
