// SPDX-License-Identifier: BSD-3-Clause
// ompi/door.h -- what a process that uses livebtl through the Open MPI component has of it: the
// engine, one port, and the requests that are open there.
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

  /// Starts the process's engine, or shares the running one, and sets `door`.
  /// Errors: those of Engine::acquire() and open_port().
  static Status open();
  static void close() noexcept;

  /// Moves the engine and completes ended requests; gives way if there has long been nothing to do.
  /// Returns how much was done.
  int progress() noexcept;
  /// Completes ended requests, which may call back into MPI.
  int drain() noexcept;
  bool anybody_lost() const noexcept {
    return happenings.peers_lost.load(std::memory_order_relaxed) != 0;
  }
  /// Spins or sleeps until it has ended (true) or there is a new doubt (false; losses.h).
  bool wait_for(const Waiting& waiting) noexcept;
  /// The same, but ignores doubts.
  void wait_for_end(const Waiting& waiting) noexcept {
    while (!wait_for(waiting)) continue;
  }

 private:
  /// Moves the engine and completes ended requests. Returns how much was done.
  int move() noexcept;
  /// Ends doubtful receives, once for each doubt.
  void look_after_doubts() noexcept;

  std::shared_ptr<Engine> owned_engine_;
  std::unique_ptr<Port> owned_port_;
  IdleSpins spins_;
  std::atomic<std::uint32_t> doubts_seen_{0};
  std::shared_ptr<Happenings> kept_happenings_ = std::make_shared<Happenings>();

 public:
  Engine& engine;
  Port& port;
  const std::size_t inject_bytes_max;
  EndedList ended;
  RequestPool requests;
  Processes processes;
  Happenings& happenings = *kept_happenings_;
};

/// Null until open() and after close().
extern Door* door;

/// One line on standard error: what is wrong, and what to do.
void tell_user(const Error& error) noexcept;
/// Sends nothing: the engine looks for a dead peer first, then refuses one slice too many.
bool is_dead(const Destination& peer) noexcept;
/// Once per process: reports a send that was not received, as its receiver has ended.
void tell_not_taken() noexcept;
/// Once per process: reports that operations end because a peer is gone.
void tell_peer_lost() noexcept;

}  // namespace livebtl::ompi
