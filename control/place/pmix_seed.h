// SPDX-License-Identifier: BSD-3-Clause
// control/place/pmix_seed.h -- the seed of a job's secret where the launcher gives none in the environment, and has a
// PMIx server (Open MPI 5's mpirun, srun --mpi=pmix): rank 0 makes one and puts it there, the others get it.
//
// Runs once, on the thread that opens the engine: within MPI_Init as a rule, before MPI itself exchanges anything, and
// so waits for nobody but rank 0, which waits for nobody. Only the PMIx library that the process has loaded is used: a
// second one would be a second client under the same name, which the server takes for a crash.
#pragma once

#include <pmix.h>

#include <optional>
#include <string>

#include "livebtl/result.h"

namespace livebtl::control {

/// The functions of PMIx that are needed; a test plays them.
struct PmixCalls {
  decltype(&PMIx_Init) init = nullptr;
  decltype(&PMIx_Put) put = nullptr;
  decltype(&PMIx_Commit) commit = nullptr;
  decltype(&PMIx_Get) get = nullptr;
  decltype(&PMIx_Finalize) finalize = nullptr;
  decltype(&PMIx_Error_string) error_string = nullptr;
};

/// Of the library that this process has loaded; nothing: it has none. That library stays loaded.
std::optional<PmixCalls> loaded_pmix() noexcept;

/// 64 hexadecimal digits, the same in every process of the job and of those that it has spawned.
/// timeout_s: how long rank 0 may be behind. Errors: kTimeout, kSystem (in PMIx's words), kInvalid (what was found there
/// is no seed).
Result<std::string> seed_by_pmix(const PmixCalls& calls, int timeout_s);

}  // namespace livebtl::control
