// SPDX-License-Identifier: BSD-3-Clause
// ompi/losses.cc -- see losses.h.
#include "ompi/losses.h"

#include "ompi/component.h"
#include "ompi/door.h"

namespace livebtl::ompi {

void Happenings::note(const EngineEvent& event) noexcept {
  switch (event.kind) {
    case EngineEvent::Kind::kSwitched:
      switches.fetch_add(1, std::memory_order_relaxed);
      return;
    case EngineEvent::Kind::kPathLost:
      paths_lost.fetch_add(1, std::memory_order_relaxed);
      return;
    case EngineEvent::Kind::kPeerLost:
      peers_lost.fetch_add(1, std::memory_order_relaxed);
      raise_doubt();
      return;
  }
}

bool has_dead_member(const ompi_communicator_t& comm) noexcept {
  return CommPeers::any_known(comm, is_dead);
}

// A receive that is cancelled, but not by its user, has lost its peer: Request::complete().
void end_if_doubtful(Request& request, const ompi_communicator_t& comm) noexcept {
  if (has_dead_member(comm)) door->port.cancel(request);
}

void end_doubtful(RequestPool& requests) noexcept {
  requests.for_each_from_any(
      [](Request& request, const ompi_communicator_t& comm) { end_if_doubtful(request, comm); });
}

namespace {

/// Reads a counter of the Door for MPI_T; 0 while there is no Door.
template <auto counter>
int read_counter(const mca_base_pvar_t*, void* value, void*) {
  *static_cast<unsigned long long*>(value) =
      door == nullptr ? 0 : (door->happenings.*counter).load(std::memory_order_relaxed);
  return OMPI_SUCCESS;
}

void register_counter(const char* name, const char* description, mca_base_get_value_fn_t read) {
  mca_base_component_pvar_register(
      &component_version(), name, description, OPAL_INFO_LVL_4, MCA_BASE_PVAR_CLASS_COUNTER,
      MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, nullptr, MPI_T_BIND_NO_OBJECT,
      static_cast<mca_base_pvar_flag_t>(MCA_BASE_PVAR_FLAG_READONLY |
                                        MCA_BASE_PVAR_FLAG_CONTINUOUS),
      read, nullptr, nullptr, nullptr);
}

}  // namespace

void register_counters() noexcept {
  register_counter("switches", "How often messages to a peer went over to another transport",
                   read_counter<&Happenings::switches>);
  register_counter("paths_lost", "Paths to peers that broke; nothing that they carried is lost",
                   read_counter<&Happenings::paths_lost>);
  register_counter("peers_lost", "Processes that are proved dead",
                   read_counter<&Happenings::peers_lost>);
}

}  // namespace livebtl::ompi
