// SPDX-License-Identifier: BSD-3-Clause
// ompi/losses.h -- what the engine reports besides completions: processes that died and, for
// observers through MPI_T, switches and broken paths.
//
// The engine ends a receive that names a dead process, but not one from any source, for which
// another process may still send. As it might wait for ever, that one is ended here, once a member
// of its communicator is dead that this process has named or received from.
//
// Threads:   note() runs within Engine::progress(), without a lock; all else on the application's
//            threads.
// Ownership: none; the Door owns the counters.
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
  // Changes when receives from any source must be looked at again: a process died, or a dead one
  // became known.
  std::atomic<std::uint32_t> doubts{0};

  void raise_doubt() noexcept { doubts.fetch_add(1, std::memory_order_relaxed); }
  void note(const EngineEvent& event) noexcept;
};

/// Is any member of the communicator dead that this process has named in a call or received from,
/// on any communicator?
bool has_dead_member(const ompi_communicator_t& comm) noexcept;

/// Ends a request that receives from any source if has_dead_member() and it is not yet matched.
void end_if_doubtful(Request& request, const ompi_communicator_t& comm) noexcept;
/// The same for all such requests.
void end_doubtful(RequestPool& requests) noexcept;

/// Makes the counters readable through MPI_T: pml_livebtl_switches, _paths_lost, _peers_lost.
void register_counters() noexcept;

}  // namespace livebtl::ompi
