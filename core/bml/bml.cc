// SPDX-License-Identifier: BSD-3-Clause
// core/bml/bml.cc -- see bml.h.
#include "core/bml/bml.h"

#include "base/assert.h"
#include "base/log.h"
#include "core/engine/context.h"
#include "core/lane/boxes.h"
#include "core/lane/send.h"

namespace livebtl::core {

Bml::Bml(const Parts& with)
    : slots(with.context, peers, with.sender, connector),
      peers(with.context, slots),
      elector(with.context, peers, slots, with.sender, dialler, with.switching, with.hold),
      losses({with.context, peers, elector, dialler, connector, with.returning, with.sender,
              with.transfers, with.onesided, with.ports}),
      connector({with.context,
                 {with.receiver, with.transfers, with.boxes, losses.broken()},
                 peers,
                 slots,
                 elector,
                 losses,
                 probes,
                 with.sender,
                 with.switching,
                 with.returning,
                 with.hold}),
      dialler({with.context, peers, slots, elector, connector, tickets, unreached, losses,
               with.switching, with.returning, with.hold}),
      tickets(with.context, peers, slots, connector, with.switching),
      unreached(with.context, peers, slots),
      probes(with.context, peers, with.sender, with.ports, with.hold, *this),
      sender_(with.sender),
      boxes_(with.boxes) {}

void Bml::tidy_up() noexcept {
  losses.turn();
  tickets.turn();
  connector.turn();
  dialler.turn();
}

void Bml::housekeeping() noexcept {
  connector.keep_time();
  probes.begin_look();
  peers.for_each_met([&](Peer& peer) {
    probes.keep_time(peer);
    dialler.keep_time(peer);
    acknowledge(peer);
  });
  probes.make_rounds();
  boxes_.keep_time();
  losses.keep_time();
}

void Bml::acknowledge(Peer& peer) noexcept {
  if (!peer.owes_acknowledgement()) return;
  peer.rx.ack_wanted = true;
  sender_.mark_dirty(peer);
}

void Bml::acknowledge() noexcept {
  peers.for_each_met([&](Peer& peer) { acknowledge(peer); });
}

TimeNs Bml::due_at() noexcept {
  TimeNs due =
      std::min({connector.due_at(), probes.round_due_at(), boxes_.due_at(), losses.due_at()});
  peers.for_each_met([&](Peer& peer) {
    due = std::min({due, probes.due_at(peer), dialler.due_at(peer)});
  });
  return due;
}

void Bml::shut_down() noexcept {
  connector.clear();
  tickets.clear();
  losses.clear();
  slots.clear();
}

void Bml::on_hello(Path& path, Bytes payload) noexcept { connector.on_hello(path, payload); }

void Bml::on_confirmed(Path& path) noexcept {
  elector.elect(*path.peer);
  sender_.mark_dirty(*path.peer);  // frames that waited for this may be posted
}

void Bml::want_path(Peer& peer) noexcept { dialler.want_path(peer); }

void Bml::on_breach(Peer& peer, const char* what) noexcept {
  losses.lose_peer(peer, std::string("it breaks the protocol: ") + what);
}

void Bml::on_path_frame(Path& path, const FrameHead& head, Bytes header, Bytes payload) noexcept {
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
      if (body.path == path.id) elector.on_marker_ack(path, body.seq);
      return;
    case FrameKind::kPathDown:
      return Losses::on_peer_path_down(peer, body.path);
    case FrameKind::kProbe:
      return on_probe(path);
    case FrameKind::kTicket:
      return tickets.on_ticket(path, body.path, payload);
    case FrameKind::kBox:
      if (body.path == path.id) boxes_.on_note(path, body.seq);
      return;
    case FrameKind::kTicketBack:
      return tickets.on_ticket_back(peer, body.path, payload);
    default:
      LIVEBTL_ASSERT(false, "decode_head knows the kinds");
  }
}

// The peer asks whether we are alive, or how much credit it has.
void Bml::on_probe(Path& path) noexcept {
  path.answer_due = true;
  path.peer->rx.on_credit_asked();
  sender_.mark_dirty(*path.peer);
}

// The peer has left this path. If we have not used it since our last marker either, we say so too:
// then both ends know that the path is no longer needed, and do not take its end for a loss.
void Bml::on_marker(Path& path, std::uint64_t ordinal) noexcept {
  if (!path.marker.on_marker(ordinal))
    return path.break_down({Errc::kCorrupt, "the peer sent a marker of number 0"});
  boxes_.close(path);
  Peer& peer = *path.peer;
  elector.on_peer_left(peer, path);
  peer.rx.ack_wanted = true;
  sender_.mark_dirty(peer);
}

void Bml::on_addresses(Peer& peer, Bytes payload) noexcept {
  // Read more than once, and may lie in memory that the peer can still change.
  const Blob copy(payload.begin(), payload.end());
  auto addresses = decode_addresses(copy);
  if (!addresses) {
    log(LogLevel::kWarn, "engine", "%s sent malformed addresses: %s", peer.name().c_str(),
        addresses.error().text.c_str());
    return;
  }
  const auto before = peer.addresses;
  peers.take_addresses(peer, *addresses);
  if (peer.addresses != before) peer.dials.forget();
  elector.elect(peer);
}

}  // namespace livebtl::core
