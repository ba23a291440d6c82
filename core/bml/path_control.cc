// SPDX-License-Identifier: BSD-3-Clause
// core/bml/path_control.cc -- see path_control.h.
#include "core/bml/path_control.h"

#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "core/bml/connector.h"
#include "core/bml/dialler.h"
#include "core/bml/elector.h"
#include "core/bml/losses.h"
#include "core/bml/tickets.h"
#include "core/lane/send.h"
#include "core/path/hello_wire.h"
#include "core/switch/returning.h"

namespace livebtl::core {

void PathControl::on_hello(Path& path, Bytes payload) noexcept {
  connector_.on_hello(path, payload);
}

void PathControl::on_confirmed(Path& path) noexcept { elector_.elect(*path.peer); }

void PathControl::want_path(Peer& peer) noexcept { dialler_.want_path(peer); }

void PathControl::on_path_frame(Path& path, const FrameHead& head, Bytes header,
                                Bytes payload) noexcept {
  Peer& peer = *path.peer;
  const auto body = decode_body<PathBody>(header);
  if (head.kind == FrameKind::kGoodbye) {
    peer.departed = true;
    peer.sent_until = body.seq;
    return;
  }
  switch (head.kind) {
    case FrameKind::kMarker:
      return on_marker(path, body.seq);
    case FrameKind::kMarkerAck:
      if (body.path == path.id) elector_.on_marker_ack(path, body.seq);
      return;
    case FrameKind::kPathDown:
      return Losses::on_peer_path_down(peer, body.path);
    case FrameKind::kProbe:
      path.answer_due = true;
      return sender_.mark_dirty(peer);
    case FrameKind::kTicket:
      return tickets_.on_ticket(path, body.path, payload);
    case FrameKind::kTicketBack:
      return tickets_.on_ticket_back(peer, body.path, payload);
    default:
      LIVEBTL_ASSERT(false, "decode_head knows the kinds");
  }
}

// The peer has left this path. Where we have not used it either (since our last marker), we say so
// too: each side knows then that the path is no more needed, and does not take its end for a loss.
void PathControl::on_marker(Path& path, std::uint64_t ordinal) noexcept {
  if (!path.marker.on_marker(ordinal))
    return path.break_down({Errc::kCorrupt, "the peer sent a marker of number 0"});
  Peer& peer = *path.peer;
  elector_.on_peer_left(peer, path);
  peer.rx.ack_wanted = true;
  sender_.mark_dirty(peer);
}

void PathControl::on_addresses(Peer& peer, Bytes payload) noexcept {
  auto addresses = decode_addresses(payload);
  if (!addresses) {
    log(LogLevel::kWarn, "engine", "%s sent malformed addresses: %s", peer.name().c_str(),
        addresses.error().text.c_str());
    return;
  }
  const auto before = std::exchange(peer.addresses, {});
  for (auto& address : *addresses) peer.addresses[address.transport] = std::move(address.address);
  Returning::note_addresses(peer);
  if (peer.addresses != before) peer.dials.forget();
  elector_.elect(peer);
}

}  // namespace livebtl::core
