// SPDX-License-Identifier: BSD-3-Clause
// core/bml/bml.h -- the layer between the lanes and the transports: which paths serve a peer. Its parts
// have one duty each; this puts them together, gives them their turns, and hands them what the lanes leave
// to them.
//
// Threads: under the engine's lock. Ownership: owns its parts.
#pragma once

#include "core/bml/connector.h"
#include "core/bml/dialler.h"
#include "core/bml/elector.h"
#include "core/bml/losses.h"
#include "core/bml/peers.h"
#include "core/bml/probes.h"
#include "core/bml/slots.h"
#include "core/bml/tickets.h"
#include "core/bml/unreached.h"
#include "core/lane/path_events.h"

namespace livebtl::core {

class Bml final : public PathEvents {
 public:
  /// What the BML needs of the other wings. All outlive it.
  struct Parts {
    Context& context;
    Sender& sender;
    Receiver& receiver;
    Transfers& transfers;
    OneSided& onesided;
    PortTable& ports;
    Boxes& boxes;
    Switching& switching;
    Returning& returning;
    Hold& hold;
  };
  explicit Bml(const Parts& parts);
  ~Bml() { shut_down(); }
  Bml(const Bml&) = delete;
  Bml& operator=(const Bml&) = delete;

  /// Clears away broken paths, opens wanted ones. Every progress; cheap when nothing is to do.
  void tidy() noexcept {
    if (pending()) [[unlikely]]
      tidy_up();
  }
  /// Time-outs, probes, late acknowledgements. Every millisecond or so.
  void housekeeping() noexcept;
  /// When housekeeping() has something to do next, if no frame comes.
  TimeNs due_at() noexcept;
  /// Is something left to do that could not be done in the last round?
  bool pending() const noexcept {
    return losses.pending() || tickets.pending() || connector.pending() || dialler.pending();
  }
  /// Gives what acknowledgements are owed, with the next frames that are posted.
  void acknowledge() noexcept;
  /// Somebody is connected, or connects.
  bool any_path() const noexcept {
    return !connector.unauthenticated().empty() || peers.any_path();
  }
  /// Closes everything at once.
  void shut_down() noexcept;

  Slots slots;
  Peers peers;
  Elector elector;
  Losses losses;
  Connector connector;
  Dialler dialler;
  Tickets tickets;
  Unreached unreached;
  Probes probes;

 private:
  void on_hello(Path& path, Bytes payload) noexcept override;
  void on_confirmed(Path& path) noexcept override;
  void on_path_frame(Path& path, const FrameHead& head, Bytes header,
                     Bytes payload) noexcept override;
  void on_addresses(Peer& peer, Bytes payload) noexcept override;
  void on_breach(Peer& peer, const char* what) noexcept override;
  void want_path(Peer& peer) noexcept override;
  void on_probe(Path& path) noexcept;
  void on_marker(Path& path, std::uint64_t ordinal) noexcept;
  void tidy_up() noexcept;
  void acknowledge(Peer& peer) noexcept;

  Sender& sender_;
  Boxes& boxes_;
};

}  // namespace livebtl::core
