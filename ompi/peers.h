// SPDX-License-Identifier: BSD-3-Clause
// ompi/peers.h -- maps a rank of a communicator to the port of its process.
//
// A process's address is looked up when a call first names it, not before: in a large job, we learn
// only of processes that we talk to. Senders become known by what they send. What was learnt is
// kept in an array of the communicator and, for other communicators, in a table of processes.
//
// Threads:   any.
// Ownership: Open MPI's communicator owns its array, between add_comm and del_comm. The engine
//            owns the peers.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "livebtl/engine.h"
#include "ompi/compat.h"

namespace livebtl::ompi {

/// The processes whose addresses are known.
class Processes {
 public:
  explicit Processes(Engine& engine) noexcept : engine_(engine) {}

  /// Errors: kNotFound (it has published no address, so it does not use this component), kInvalid.
  Result<Destination> find(const opal_process_name_t& process);
  void forget(const opal_process_name_t& process);
  /// What find() or met() recorded; the launcher is not asked. Peer null: unknown.
  Destination known(const opal_process_name_t& process);
  /// Records that the process has sent to us from `there`.
  void met(const opal_process_name_t& process, const Destination& there);

 private:
  Result<Destination> look_up(const opal_process_name_t& process);

  Engine& engine_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, Destination> known_;  // by job and rank
};

/// A communicator's peers, by rank.
class CommPeers {
 public:
  /// Null: no memory.
  static CommPeers* attach(ompi_communicator_t& comm) noexcept;
  static void detach(ompi_communicator_t& comm) noexcept;

  /// Calls `visit` with each member known by this or another communicator until it returns true;
  /// returns whether it did. Looks at every member: not for the message path.
  template <class Visit>
  static bool any_known(const ompi_communicator_t& comm, Visit visit) noexcept {
    for (int rank = 0; rank < peers_of(comm); ++rank) {
      const Destination peer = known(comm, rank);
      if (peer.peer != nullptr && visit(peer)) return true;
    }
    return false;
  }
  /// Records that a message came from `there` whose sender says that it is `rank`.
  static void met(const ompi_communicator_t& comm, int rank, const Destination& there) noexcept {
    if (static_cast<unsigned>(rank) >= static_cast<unsigned>(peers_of(comm))) return;
    const Place& place = of(comm).places_[static_cast<std::size_t>(rank)];
    if (place.peer.load(std::memory_order_relaxed) == nullptr) [[unlikely]]
      meet(comm, rank, there);
  }

  /// Returns an MPI error code; a failed look-up is reported to the user.
  static int find(ompi_communicator_t& comm, int rank, Destination& found) noexcept {
    Place& place = of(comm).places_[static_cast<std::size_t>(rank)];
    Peer* const peer = place.peer.load(std::memory_order_acquire);
    if (peer == nullptr) [[unlikely]]
      return resolve(comm, rank, found);
    found = {peer, place.port.load(std::memory_order_relaxed)};
    return MPI_SUCCESS;
  }

 private:
  struct Place {
    std::atomic<Peer*> peer{nullptr};  // written last
    std::atomic<PortNumber> port{0};
  };

  static CommPeers& of(const ompi_communicator_t& comm) noexcept {
    return *reinterpret_cast<CommPeers*>(comm.c_pml_comm);
  }
  static int resolve(ompi_communicator_t& comm, int rank, Destination& found) noexcept;
  static Destination known(const ompi_communicator_t& comm, int rank) noexcept;
  static void meet(const ompi_communicator_t& comm, int rank, const Destination& there) noexcept;
  static void remember(const ompi_communicator_t& comm, int rank,
                       const Destination& there) noexcept;

  std::unique_ptr<Place[]> places_;
};

}  // namespace livebtl::ompi
