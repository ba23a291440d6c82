// SPDX-License-Identifier: BSD-3-Clause
// ompi/peers.cc -- see peers.h.
#include "ompi/peers.h"

#include <cstring>
#include <new>

#include "ompi/component.h"
#include "ompi/door.h"

namespace livebtl::ompi {
namespace {

std::uint64_t key_of(const opal_process_name_t& process) noexcept {
  return std::uint64_t{process.jobid} << 32 | process.vpid;
}

std::string name_of(const opal_process_name_t& process) {
  return "rank " + std::to_string(process.vpid) + " of job " + std::to_string(process.jobid);
}

}  // namespace

Result<Destination> Processes::look_up(const opal_process_name_t& process) {
  std::size_t bytes = 0;
  const std::unique_ptr<void, void (*)(void*)> published(
      published_address(component_version(), process, bytes), std::free);
  Address address;
  if (!published || bytes != address.raw.size()) {
    return fail(Errc::kNotFound, name_of(process) +
                                     " has published no address of livebtl: start all processes"
                                     " with OMPI_MCA_pml=livebtl");
  }
  std::memcpy(address.raw.data(), published.get(), bytes);
  return engine_.peer(address);
}

// The launcher may be waited for with the lock held: it does not call back.
Result<Destination> Processes::find(const opal_process_name_t& process) {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(key_of(process));
  if (known != known_.end()) return known->second;
  Result<Destination> found = look_up(process);
  if (found) known_.emplace(key_of(process), *found);
  return found;
}

void Processes::forget(const opal_process_name_t& process) {
  const std::lock_guard lock(mutex_);
  known_.erase(key_of(process));
}

CommPeers* CommPeers::attach(ompi_communicator_t& comm) noexcept {
  auto peers = std::unique_ptr<CommPeers>(new (std::nothrow) CommPeers);
  if (!peers) return nullptr;
  peers->places_.reset(new (std::nothrow) Place[static_cast<std::size_t>(peers_of(comm))]);
  if (!peers->places_) return nullptr;
  comm.c_pml_comm = reinterpret_cast<mca_pml_comm_t*>(peers.get());
  return peers.release();
}

void CommPeers::detach(ompi_communicator_t& comm) noexcept {
  delete reinterpret_cast<CommPeers*>(comm.c_pml_comm);
  comm.c_pml_comm = nullptr;
}

int CommPeers::resolve(ompi_communicator_t& comm, int rank, Destination& found) noexcept {
  try {
    const ompi_proc_t* const process = ompi_comm_peer_lookup(&comm, rank);
    if (process == nullptr) return MPI_ERR_RANK;
    const auto resolved = door->processes.find(process->super.proc_name);
    if (!resolved) {
      tell_user(resolved.error());
      return MPI_ERR_OTHER;
    }
    found = *resolved;
    Place& place = of(comm).places_[static_cast<std::size_t>(rank)];
    place.port.store(found.port, std::memory_order_relaxed);
    place.peer.store(found.peer, std::memory_order_release);
    return MPI_SUCCESS;
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  }
}

}  // namespace livebtl::ompi
