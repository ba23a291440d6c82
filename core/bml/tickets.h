// SPDX-License-Identifier: BSD-3-Clause
// core/bml/tickets.h -- paths whose transport connects by tickets (Caps::by_ticket): each end must
// know what the other has created for the connection. The dialler's ticket and the reply travel as
// control frames over any open path of the pair, which proves their sender; on the new path the
// hello follows as usual. docs/adr/0007, docs/WIRE.md, "Tickets".
//
// Threads: under the engine's lock. Ownership: owns tickets that wait to be posted.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "core/engine/parts.h"
#include "core/lane/frame.h"
#include "core/lane/peer.h"

namespace livebtl::core {

class Tickets {
 public:
  Tickets(const Context& context, Peers& peers, Slots& slots, Connector& connector,
          const Switching& switching)
      : context_(context),
        peers_(peers),
        slots_(slots),
        connector_(connector),
        switching_(switching) {}

  /// Is there a path to carry the pair's tickets, if the transport needs any?
  bool can_dial(const Peer& peer, const TransportSlot& slot) const noexcept;
  /// Sends the ticket of a path just dialled. If no answer comes in time, the path ends like one
  /// without a hello.
  void exchange(Path& dialled);
  /// A peer dials by tickets. payload: hostile.
  void on_ticket(Path& carrier, std::uint64_t path_id, Bytes payload) noexcept;
  /// A peer answers our ticket. ticket: hostile.
  void on_ticket_back(Peer& peer, std::uint64_t path_id, Bytes ticket) noexcept;
  bool pending() const noexcept { return !waiting_.empty(); }
  /// Posts the waiting tickets.
  void turn() noexcept;
  void clear() noexcept { waiting_.clear(); }

 private:
  struct TicketOut {
    ProcessId to;
    FrameKind kind;
    std::uint64_t path;  // to be made
    Blob payload;
  };
  std::unique_ptr<Endpoint> admit(const std::string& transport, Bytes ticket);
  void queue(Peer& to, FrameKind kind, std::uint64_t path_id, Blob payload);
  bool has_room(const Peer& peer) noexcept;
  bool admits(const Peer& peer) noexcept;
  bool post(Peer& peer, const TicketOut& ticket) noexcept;
  void warn(const Peer& peer, const char* what) noexcept;

  const Context& context_;
  Peers& peers_;
  Slots& slots_;
  Connector& connector_;
  const Switching& switching_;
  std::vector<TicketOut> waiting_;  // for any open path
  LogLimit logged_;
};

}  // namespace livebtl::core
