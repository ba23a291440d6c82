// SPDX-License-Identifier: BSD-3-Clause
// ompi/losses.h -- what the engine tells besides completions: processes that died, and, for those
// who look on by MPI_T, switches and broken paths.
//
// A receive that names a dead process is ended by the engine. One from any source is not, for
// another process may still send: it is ended here, once a member of its communicator is dead that
// this process has named or heard of, as it might wait for ever.
//
// Threads:   note() runs within Engine::progress(), without a lock; all else on the application's.
// Ownership: none; the counters are the Door's.
#pragma once

#include <atomic>
#include <cstdint>

#include "livebtl/engine.h"
#include "ompi/compat.h"

namespace livebtl::ompi {

class RequestPool;
struct Request;

struct Happenings {
  std::atomic<std::uint64_t> switches{0};
  std::atomic<std::uint64_t> paths_lost{0};
  std::atomic<std::uint32_t> peers_lost{0};
  // Changes when a receive from any source has to be looked at again: somebody died, or a dead one became known.
  std::atomic<std::uint32_t> doubts{0};

  void raise_doubt() noexcept { doubts.fetch_add(1, std::memory_order_relaxed); }
  void note(const EngineEvent& event) noexcept;
};

/// Is a member of the communicator dead that this process has named in a call, or received from, on whichever?
bool has_dead_member(const ompi_communicator_t& comm) noexcept;

/// Ends a request that receives from any source, if has_dead_member() and it is not matched.
void end_if_doubtful(Request& request, const ompi_communicator_t& comm) noexcept;
/// The same of all.
void end_doubtful(RequestPool& requests) noexcept;

/// Makes the counters readable by MPI_T: pml_livebtl_switches, _paths_lost, _peers_lost.
void register_counters() noexcept;

}  // namespace livebtl::ompi
