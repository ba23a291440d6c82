// SPDX-License-Identifier: BSD-3-Clause
// ompi/door.h -- what a process that came in through the Open MPI component has of livebtl: the
// engine and a port of it, and the requests that are open there.
//
// Threads:   open() and close() in MPI_Init and MPI_Finalize; all else on any thread of the
//            application.
// Ownership: the one Door of the process owns engine, port and requests. It is on the heap, so
//            that a program that ends without MPI_Finalize destroys nothing that is in use.
#pragma once

#include <memory>

#include "base/idle_spins.h"
#include "livebtl/engine.h"
#include "ompi/ended_list.h"
#include "ompi/losses.h"
#include "ompi/peers.h"
#include "ompi/request.h"

namespace livebtl::ompi {

class Door {
 public:
  Door(std::shared_ptr<Engine> shared, std::unique_ptr<Port> opened) noexcept;

  /// Starts the engine, or shares the one that the process has, and sets `door`.
  /// Errors: Engine::acquire()'s and open_port()'s.
  static Status open();
  static void close() noexcept;

  /// Moves the engine and completes what has ended; gives way if there has been nothing to do for
  /// long. Returns how much was done.
  int progress() noexcept;
  /// Completes what has ended. Requests may call back into MPI.
  int drain() noexcept;
  bool anybody_lost() const noexcept {
    return happenings.peers_lost.load(std::memory_order_relaxed) != 0;
  }
  /// Sleeps, or not, until it has ended: true; or, false, until there is a new doubt (losses.h).
  bool wait_for(const Waiting& waiting) noexcept;
  /// The same whatever dies.
  void wait_for_end(const Waiting& waiting) noexcept {
    while (!wait_for(waiting)) continue;
  }

 private:
  /// Moves the engine and completes what has ended. Returns how much was done.
  int move() noexcept;
  /// Once for each doubt.
  void look_after_doubts() noexcept;

  std::shared_ptr<Engine> owned_engine_;
  std::unique_ptr<Port> owned_port_;
  IdleSpins spins_;
  std::atomic<std::uint32_t> doubts_seen_{0};

 public:
  Engine& engine;
  Port& port;
  const std::size_t inject_bytes_max;
  EndedList ended;
  RequestPool requests;
  Processes processes;
  Happenings happenings;
};

/// Null until open() and after close().
extern Door* door;

/// One line on standard error: what is wrong, and what to do.
void tell_user(const Error& error) noexcept;
/// The engine refuses what is too long, but first what goes to the dead: so nothing is sent.
bool is_dead(const Destination& peer) noexcept;
/// Once a process: a send was not received, as its receiver has ended.
void tell_not_taken() noexcept;
/// Once a process: operations end since a peer is gone.
void tell_peer_lost() noexcept;

}  // namespace livebtl::ompi
