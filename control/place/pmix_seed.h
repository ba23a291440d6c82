// SPDX-License-Identifier: BSD-3-Clause
// control/place/pmix_seed.h -- the seed of a job's secret if the launcher gives none in the
// environment but has a PMIx server (Open MPI 5's mpirun, srun --mpi=pmix): rank 0 makes one and
// puts it there, the others get it.
//
// Runs once, on the thread that opens the engine: as a rule within MPI_Init, before MPI itself
// exchanges anything. It waits only for rank 0, which waits for nobody (if spawned: for its
// parents' rank 0). Only the PMIx library that the process has loaded is used: a second one would
// be another client of the same name, which the server takes for a crash.
#pragma once

#include <pmix.h>

#include <optional>
#include <string>

#include "livebtl/result.h"

namespace livebtl::control {

/// The PMIx functions that are needed; a test fakes them.
struct PmixCalls {
  decltype(&PMIx_Init) init = nullptr;
  decltype(&PMIx_Put) put = nullptr;
  decltype(&PMIx_Commit) commit = nullptr;
  decltype(&PMIx_Get) get = nullptr;
  decltype(&PMIx_Finalize) finalize = nullptr;
  decltype(&PMIx_Error_string) error_string = nullptr;
};

/// From the library that this process has loaded; nullopt: it has none. The library stays loaded.
std::optional<PmixCalls> loaded_pmix() noexcept;

/// 64 hexadecimal digits, the same in every process of the job and of those that it spawned.
/// timeout_s: how far rank 0 may be behind. Errors: kTimeout, kSystem (in PMIx's words), kInvalid
/// (what was found there is not a seed).
Result<std::string> seed_by_pmix(const PmixCalls& calls, int timeout_s);

}  // namespace livebtl::control
