// SPDX-License-Identifier: BSD-3-Clause
// core/bml/tickets.cc -- see tickets.h.
#include "core/bml/tickets.h"

#include "base/log.h"
#include "base/transport_name.h"
#include "core/bml/connector.h"
#include "core/bml/peers.h"
#include "core/bml/slots.h"
#include "core/engine/context.h"
#include "core/switch/switching.h"

namespace livebtl::core {

namespace {

// A pair has at most one dial under way per transport, and dials given up end by themselves: no
// honest pair reaches these limits.
constexpr std::uint32_t kTicketsWaitingMax = 32;  // per peer, for a path that takes them
constexpr std::ptrdiff_t kAdmittedMax = 16;       // per peer, without a good hello yet
/// A kTicket's payload: the transport's name and the ticket, each with its length.
constexpr std::size_t kTicketFrameBytesMax = 2 + kTransportNameMax + 2 + kTicketBytesMax;

}  // namespace

// The tickets of a path to this process itself need no carrier.
bool Tickets::can_dial(const Peer& peer, const TransportSlot& slot) const noexcept {
  return !slot.caps.by_ticket || peer.process == context_.config.process || peer.connected();
}

// With this process itself, tickets are exchanged at once.
void Tickets::exchange(Path& dialled) {
  TicketEnd& end = *dialled.endpoint->by_ticket();
  const Blob ticket = end.ticket();
  LIVEBTL_ASSERT(!ticket.empty() && ticket.size() <= kTicketBytesMax, "a ticket has a limit");
  if (dialled.peer->process == context_.config.process) {
    auto admitted = admit(dialled.slot.name(), ticket);
    if (!admitted) return dialled.break_down({Errc::kRefused, "this process cannot dial itself"});
    end.take_ticket(admitted->by_ticket()->ticket());
    return connector_.take_in(dialled.slot, std::move(admitted));
  }
  ByteWriter writer;
  writer.put_counted(as_bytes(dialled.slot.name()));
  writer.put_counted(ticket);
  if (!has_room(*dialled.peer))
    return dialled.break_down({Errc::kLimit, "too many tickets wait for a path that takes them"});
  queue(*dialled.peer, FrameKind::kTicket, dialled.id, writer.take());
}

// A peer that floods us with tickets, or takes none of our answers, must not use up our memory.
bool Tickets::has_room(const Peer& peer) noexcept {
  if (peer.tickets_waiting < kTicketsWaitingMax) return true;
  warn(peer, "it takes none of ours, or sends too many; one is dropped");
  return false;
}

void Tickets::queue(Peer& to, FrameKind kind, std::uint64_t path_id, Blob payload) {
  ++to.tickets_waiting;
  waiting_.push_back({to.process, kind, path_id, std::move(payload)});
}

bool Tickets::admits(const Peer& peer) noexcept {
  const auto& accepted = connector_.unauthenticated();
  const auto begun = std::count_if(accepted.begin(), accepted.end(), [&](const auto& path) {
    return path->admitted_for == peer.process && !path->down();
  });
  if (begun < kAdmittedMax) return true;
  warn(peer, "it opens connections and sends no hello; this one is refused");
  return false;
}

void Tickets::warn(const Peer& peer, const char* what) noexcept {
  if (!logged_.allow(context_.now)) return;
  log(LogLevel::kWarn, "engine",
      "tickets of %s: %s (%llu such lines withheld); if this goes on, look at that process",
      peer.name().c_str(), what, static_cast<unsigned long long>(logged_.suppressed()));
}

// Null: refused; logged if the transport itself refused.
std::unique_ptr<Endpoint> Tickets::admit(const std::string& transport, Bytes ticket) {
  TransportSlot* slot = slots_.find(transport);
  if (slot == nullptr || !slot->in_service() || !slot->caps.by_ticket ||
      !switching_.accepts(transport))
    return nullptr;
  auto endpoint = slot->transport->by_ticket()->admit(ticket);
  if (endpoint) return std::move(*endpoint);
  slot->absence.doubted = true;
  log(LogLevel::kInfo, "engine", "a peer that dials by %s is refused: %s", transport.c_str(),
      endpoint.error().text.c_str());
  return nullptr;
}

// Copied, here and below: it is read more than once, and may lie in memory that the peer can still
// change.
void Tickets::on_ticket(Path& carrier, std::uint64_t path_id, Bytes payload) noexcept {
  if (payload.size() > kTicketFrameBytesMax)
    return carrier.break_down({Errc::kCorrupt, "the peer sent a ticket that is too long"});
  const Blob copy(payload.begin(), payload.end());
  ByteReader reader(copy);
  const Bytes name = reader.take_counted(kTransportNameMax);
  const Bytes ticket = reader.take_counted(kTicketBytesMax);
  const std::string transport(reinterpret_cast<const char*>(name.data()), name.size());
  if (!reader.finished() || path_id == 0 || !is_transport_name(transport))
    return carrier.break_down({Errc::kCorrupt, "the peer sent a malformed ticket"});
  Peer& peer = *carrier.peer;
  if (!has_room(peer)) return;
  auto admitted = admits(peer) ? admit(transport, ticket) : nullptr;
  queue(peer, FrameKind::kTicketBack, path_id, admitted ? admitted->by_ticket()->ticket() : Blob{});
  if (admitted) connector_.take_in(*slots_.find(transport), std::move(admitted), peer.process);
}

// A ticket for a path given up meanwhile is ignored.
void Tickets::on_ticket_back(Peer& peer, std::uint64_t path_id, Bytes ticket) noexcept {
  const auto found = std::ranges::find_if(peer.paths, [&](const auto& path) {
    return path->id == path_id && path->being_dialled() && path->slot.caps.by_ticket &&
           !path->ticket_taken;
  });
  if (found == peer.paths.end()) return;
  Path& path = **found;
  path.ticket_taken = true;
  if (ticket.empty() || ticket.size() > kTicketBytesMax)
    return path.break_down({Errc::kRefused, "the peer cannot connect by it now"});
  const Blob copy(ticket.begin(), ticket.end());
  path.endpoint->by_ticket()->take_ticket(copy);
}

// true: posted, or nobody is left to send or take it; the end that waits for it dials again.
bool Tickets::post(Peer& peer, const TicketOut& ticket) noexcept {
  const bool outlived = std::ranges::none_of(peer.paths, [&](const auto& path) {
    return path->id == ticket.path && path->being_dialled();
  });
  if (ticket.kind == FrameKind::kTicket && outlived) return true;  // given up meanwhile
  const Header<PathBody> header{{ticket.kind, 0, 0, 0, 0, 0, peer.rx.reorder.expected()},
                                {ticket.path, 0}};
  const auto takes = [&](Path& path) {
    return path.open() && path.confirmed && !path.closing &&
           path.endpoint->post({bytes_of(header), ticket.payload, 0, false}) != Post::kRetry;
  };
  if (peer.send_path != nullptr && takes(*peer.send_path)) return true;
  return !peer.connected() ||
         std::ranges::any_of(peer.paths, [&](const auto& path) { return takes(*path); });
}

void Tickets::turn() noexcept {
  std::vector<TicketOut> waiting;
  waiting.swap(waiting_);
  for (TicketOut& ticket : waiting) {
    Peer& to = peers_.record(ticket.to);
    if (post(to, ticket)) {
      --to.tickets_waiting;
    } else {
      waiting_.push_back(std::move(ticket));
    }
  }
}

}  // namespace livebtl::core
