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

// May wait for the launcher with the lock held: the launcher does not call back.
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

Destination Processes::known(const opal_process_name_t& process) {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(key_of(process));
  return known == known_.end() ? Destination{} : known->second;
}

void Processes::met(const opal_process_name_t& process, const Destination& there) {
  const std::lock_guard lock(mutex_);
  known_.emplace(key_of(process), there);
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
    remember(comm, rank, found);
    return MPI_SUCCESS;
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  }
}

Destination CommPeers::known(const ompi_communicator_t& comm, int rank) noexcept {
  const Place& place = of(comm).places_[static_cast<std::size_t>(rank)];
  Peer* const peer = place.peer.load(std::memory_order_acquire);
  if (peer != nullptr) return {peer, place.port.load(std::memory_order_relaxed)};
  return door->processes.known(process_at(comm, rank));
}

// Without memory the peer stays unknown until its next message.
void CommPeers::meet(const ompi_communicator_t& comm, int rank, const Destination& there) noexcept {
  try {
    door->processes.met(process_at(comm, rank), there);
    remember(comm, rank, there);
  } catch (const std::bad_alloc&) {
  }
}

// Receives from any source that went on because a dead peer was unknown are looked at again.
void CommPeers::remember(const ompi_communicator_t& comm, int rank,
                         const Destination& there) noexcept {
  Place& place = of(comm).places_[static_cast<std::size_t>(rank)];
  place.port.store(there.port, std::memory_order_relaxed);
  place.peer.store(there.peer, std::memory_order_release);
  if (door->anybody_lost() && is_dead(there)) door->happenings.raise_doubt();
}

}  // namespace livebtl::ompi
