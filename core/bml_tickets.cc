// SPDX-License-Identifier: BSD-3-Clause
// core/bml_tickets.cc -- paths whose transport connects by tickets (Caps::by_ticket): each end must
// know what the other has made for the connection. The dialler's ticket and the one in return go as
// control frames over any open path of the pair, which has proved who they come from; on the new
// path the hello follows as on any. docs/adr/0007, docs/WIRE.md, "Tickets".
#include "base/log.h"
#include "core/core.h"

namespace livebtl::core {

namespace {
constexpr std::size_t kCarriedNameMax = 16;
}

// A path to oneself needs nobody to carry its tickets.
bool Bml::can_dial(const Peer& peer, const TransportSlot& slot) const noexcept {
  return !slot.caps.by_ticket || peer.process == core_.config.process || connected(peer);
}

// in: a path just dialled. out: the tickets are exchanged if it leads to this process, else ours is
// on its way. If an answer does not come in time the path ends like one without a hello.
void Bml::exchange_tickets(Path& dialled) {
  const Blob ticket = dialled.endpoint->ticket();
  LIVEBTL_ASSERT(!ticket.empty() && ticket.size() <= kTicketBytesMax, "a ticket has a limit");
  if (dialled.peer->process == core_.config.process) {
    auto admitted = admit(dialled.slot.name(), ticket);
    if (!admitted) return dialled.break_down({Errc::kRefused, "this process cannot dial itself"});
    dialled.endpoint->take_ticket(admitted->ticket());
    return take_in(dialled.slot, std::move(admitted));
  }
  ByteWriter writer;
  writer.put_counted(as_bytes(dialled.slot.name()));
  writer.put_counted(ticket);
  tickets_.push_back({dialled.peer->process, FrameKind::kTicket, dialled.id, writer.take()});
}

// Null: refused, which the log says.
std::unique_ptr<Endpoint> Bml::admit(const std::string& transport, Bytes ticket) {
  TransportSlot* slot = find_slot(transport);
  if (slot == nullptr || !slot->open() || !slot->caps.by_ticket ||
      !core_.switching.accepts(transport))
    return nullptr;
  auto endpoint = slot->transport->admit(ticket);
  if (endpoint) return std::move(*endpoint);
  log(LogLevel::kInfo, "engine", "a peer that dials by %s is refused: %s", transport.c_str(),
      endpoint.error().text.c_str());
  return nullptr;
}

void Bml::on_ticket(Path& carrier, std::uint64_t path_id, Bytes payload) noexcept {
  ByteReader reader(payload);
  const Bytes name = reader.take_counted(kCarriedNameMax);
  const Bytes ticket = reader.take_counted(kTicketBytesMax);
  if (!reader.finished() || path_id == 0)
    return carrier.break_down({Errc::kCorrupt, "the peer sent a malformed ticket"});
  const std::string transport(reinterpret_cast<const char*>(name.data()), name.size());
  auto admitted = admit(transport, ticket);
  tickets_.push_back({carrier.peer->process, FrameKind::kTicketBack, path_id,
                      admitted ? admitted->ticket() : Blob{}});
  if (admitted) take_in(*find_slot(transport), std::move(admitted));
}

// A path that was given up meanwhile is not looked for.
void Bml::on_ticket_back(Peer& peer, std::uint64_t path_id, Bytes ticket) noexcept {
  const auto found = std::find_if(peer.paths.begin(), peer.paths.end(), [&](const auto& path) {
    return path->id == path_id && path->dialled && path->slot.caps.by_ticket &&
           path->state == Path::State::kHello && !path->ticket_taken;
  });
  if (found == peer.paths.end()) return;
  Path& path = **found;
  path.ticket_taken = true;
  if (ticket.empty() || ticket.size() > kTicketBytesMax)
    return path.break_down({Errc::kRefused, "the peer cannot connect by it now"});
  path.endpoint->take_ticket(ticket);
}

// true: it is posted, or nobody is left to take it; who waits for it dials again.
bool Bml::post_ticket(const TicketOut& ticket) noexcept {
  Peer* peer = find_peer(ticket.to);
  if (peer == nullptr) return true;
  const Header<PathBody> header{{ticket.kind, 0, 0, 0, 0, 0, peer->rx.reorder.expected()},
                                {ticket.path, 0}};
  const auto takes = [&](Path& path) {
    return path.open() && path.confirmed && !path.closing &&
           path.endpoint->post({bytes_of(header), ticket.payload, 0, false}) != Post::kRetry;
  };
  if (peer->send_path != nullptr && takes(*peer->send_path)) return true;
  const auto& paths = peer->paths;
  return !connected(*peer) ||
         std::any_of(paths.begin(), paths.end(), [&](const auto& path) { return takes(*path); });
}

void Bml::flush_tickets() noexcept {
  std::vector<TicketOut> waiting;
  waiting.swap(tickets_);
  for (TicketOut& ticket : waiting) {
    if (!post_ticket(ticket)) tickets_.push_back(std::move(ticket));
  }
}

}  // namespace livebtl::core
