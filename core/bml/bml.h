// SPDX-License-Identifier: BSD-3-Clause
// core/bml/bml.h -- the layer between the lanes and the transports: which paths serve a peer. Its parts
// have one duty each; this puts them together and gives them their turns.
//
// Threads: under the engine's lock. Ownership: owns its parts.
#pragma once

#include "core/bml/connector.h"
#include "core/bml/dialler.h"
#include "core/bml/elector.h"
#include "core/bml/losses.h"
#include "core/bml/path_control.h"
#include "core/bml/peers.h"
#include "core/bml/probes.h"
#include "core/bml/slots.h"
#include "core/bml/tickets.h"
#include "core/bml/unreached.h"

namespace livebtl::core {

class Bml {
 public:
  /// What the BML needs of the other wings. All outlive it.
  struct Parts {
    Context& context;
    Sender& sender;
    Receiver& receiver;
    Transfers& transfers;
    OneSided& onesided;
    PortTable& ports;
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
    if (losses.pending() || tickets.pending() || connector.pending() || dialler.pending())
        [[unlikely]]
      tidy_up();
  }
  /// Time-outs, probes, late acknowledgements. Every millisecond or so.
  void housekeeping() noexcept;
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
  PathControl path_control;

 private:
  void tidy_up() noexcept;

  Sender& sender_;
};

}  // namespace livebtl::core
