// SPDX-License-Identifier: BSD-3-Clause
// core/lane/receive_control.cc -- frames that match no receive: active messages, answers, and what the
// two ends of a path tell each other about it (see receive.h).
#include "base/log.h"
#include "core/engine/core.h"
#include "core/lane/receive.h"

namespace livebtl::core {

void Receiver::on_active(Peer& peer, const FrameHead& head, const MessageBody& body,
                         Bytes payload) noexcept {
  CorePort* port = core_.ports.find(head.target_port);
  const auto handler = static_cast<std::uint8_t>(body.data);
  if (port == nullptr || body.data > 255) return release_credit(peer, payload.size());
  ++peer.counts.messages_received;
  CorePort::PendingActive pending;
  pending.peer = &peer;
  pending.message = {{&peer, head.source_port}, handler, body.tag, {}};
  pending.payload.assign(payload.begin(), payload.end());
  core_.ports.add_active(*port, std::move(pending));
}

// kDone answers both a message that wanted it (named by its number) and a one-sided operation; a
// flag tells.
void Receiver::on_answer(Peer& peer, const FrameHead& head, const FinBody& body,
                         Bytes payload) noexcept {
  if ((head.flags & kFlagWantDone) == 0) return core_.onesided.on_answer(peer, body, payload);
  const auto found = peer.awaiting_done.find(body.operation);
  if (found == peer.awaiting_done.end()) return;
  Operation& operation = *found->second;
  peer.awaiting_done.erase(found);
  SendState& state = state_of<SendState>(operation);
  --state.port->open_operations;
  operation.done(operation, {.bytes = state.bytes});
}

void Receiver::on_credit(Path& path, const CreditBody& credit) noexcept {
  TxLane& tx = path.peer->tx;
  if (credit.released_bytes > tx.used_bytes || credit.released_headers > tx.used_headers)
    return path.break_down({Errc::kCorrupt, "the peer gave back credit that was never used"});
  tx.released_bytes = std::max(tx.released_bytes, credit.released_bytes);
  tx.released_headers = std::max(tx.released_headers, credit.released_headers);
  if (!tx.idle()) core_.sender.mark_dirty(*path.peer);
}

void Receiver::on_path_control(Path& path, const FrameHead& head, Bytes header,
                               Bytes payload) noexcept {
  Peer& peer = *path.peer;
  switch (head.kind) {
    case FrameKind::kAck:
      return on_credit(path, decode_body<CreditBody>(header));
    case FrameKind::kMarker:
      return on_marker(path, decode_body<PathBody>(header));
    case FrameKind::kMarkerAck: {
      const auto body = decode_body<PathBody>(header);
      if (body.path == path.id) core_.bml.on_marker_ack(path, body.seq);
      return;
    }
    case FrameKind::kPathDown:
      return core_.bml.on_peer_path_down(peer, decode_body<PathBody>(header).path);
    case FrameKind::kProbe:
      path.answer_due = true;
      return core_.sender.mark_dirty(peer);
    case FrameKind::kGoodbye:
      peer.departed = true;
      return;
    case FrameKind::kTicket:
      return core_.bml.on_ticket(path, decode_body<PathBody>(header).path, payload);
    case FrameKind::kTicketBack:
      return core_.bml.on_ticket_back(peer, decode_body<PathBody>(header).path, payload);
    default:
      LIVEBTL_ASSERT(false, "decode_head knows the kinds");
  }
}

// The peer has left this path. Where we have not used it either (since our last marker), we say so
// too: each side knows then that the path is no more needed, and does not take its end for a loss.
// A hold keeps that back (Bml::unpark): there the peer may have left all paths, and come back.
void Receiver::on_marker(Path& path, const PathBody& body) noexcept {
  if (!path.marker.on_marker(body.seq))
    return path.break_down({Errc::kCorrupt, "the peer sent a marker of number 0"});
  Peer& peer = *path.peer;
  if (!core_.hold.parks()) Bml::leave_too(peer, path);
  peer.rx.ack_wanted = true;
  core_.sender.mark_dirty(peer);
}

void Receiver::on_addresses(Peer& peer, Bytes payload) noexcept {
  auto addresses = decode_addresses(payload);
  if (!addresses) {
    log(LogLevel::kWarn, "engine", "%s sent malformed addresses: %s", peer.name().c_str(),
        addresses.error().text.c_str());
    return;
  }
  const auto before = std::exchange(peer.addresses, {});
  for (auto& address : *addresses) peer.addresses[address.transport] = std::move(address.address);
  Returning::note_addresses(peer);
  if (peer.addresses != before) Bml::forget_failed_dials(peer);
  core_.bml.elect(peer);
}

}  // namespace livebtl::core
