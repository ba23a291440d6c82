// SPDX-License-Identifier: BSD-3-Clause
// core/bml/bml.h -- the layer between lanes and transports: decides which paths serve a peer. Each
// part has one duty; the Bml assembles the parts, gives them their turns, and passes them what the
// lanes leave to them.
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
  /// What the BML needs from outside. All outlive it.
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

  /// Clears away broken paths and opens wanted ones. At every progress; cheap when idle.
  void tidy() noexcept {
    if (pending()) [[unlikely]]
      tidy_up();
  }
  /// Time-outs, probes, late acknowledgements. Every millisecond or so.
  void housekeeping() noexcept;
  /// When housekeeping() has something to do next, if no frame comes.
  TimeNs due_at() noexcept;
  /// Is there work left that the last round could not do?
  bool pending() const noexcept {
    return losses.pending() || tickets.pending() || connector.pending() || dialler.pending();
  }
  /// Sends the acknowledgements owed, with the next frames that are posted.
  void acknowledge() noexcept;
  /// Somebody is connected or connecting.
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
