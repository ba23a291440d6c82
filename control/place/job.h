// SPDX-License-Identifier: BSD-3-Clause
// control/place/job.h -- which job this process is part of, and that job's run directory and
// secret.
//
// Sources in order: LIVEBTL_JOB / LIVEBTL_SIZE, PMIx and Open MPI variables, PMI (MPICH), Slurm,
// else a job of one. Spawned processes inherit the root job's id through the environment. Called
// once, before the engine starts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/secret.h"
#include "base/settings.h"
#include "control/place/run.h"

namespace livebtl::control {

struct JobFacts {
  std::string id;               // [A-Za-z0-9._-], at most 64
  std::uint32_t announced = 1;  // initial processes by the launcher; 0: spawned, adds itself
  int rank = -1;                // in the launcher's numbering; -1: not known
  std::string host;             // for people
  std::string label;            // "rank 3 on node17"
  // hash of the node identity (boot id, namespaces; LIVEBTL_NODE overrides)
  std::uint64_t node = 0;
  std::string rundir;     // checked: ours, mode 0700
  std::string directory;  // rundir/id, made if it was not there, mode 0700
  RunId run = kNoRun;     // of the job, on this node (run.h)
  Secret secret;          // absent with auth none
  // The launcher says that the whole job is on this node.
  bool one_node = false;
  // Orders may come from elsewhere: this node needs a relay.
  bool relays = false;
  bool takes_over = true;             // TAKEOVER: may it finish what a coordinator has left?
  std::string relay_path;             // the program livebtl-relay; empty: beside the library
  std::vector<std::string> relay_on;  // TCP_IF: interfaces or networks; empty: all that are up

  std::shared_ptr<const Fd> hold;  // while open, nobody takes the directory for abandoned
};

/// Sixteen hexadecimal digits: the name of a process in files, routing ids and JSON.
std::string process_name(ProcessId process);

/// Enters the job's run on this node; the first process of a run tidies what crashed jobs of this
/// user left. Errors: kAuth (rundir or secret file has the wrong owner or mode), kInvalid,
/// kTimeout, kSystem.
Result<JobFacts> find_job(const Settings& settings, ProcessId process);

}  // namespace livebtl::control
