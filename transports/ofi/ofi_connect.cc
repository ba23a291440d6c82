// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_connect.cc -- the tickets of an endpoint: its own, and the peer's (see
// ofi_endpoint.h).
#include "transports/ofi/ofi_transport.h"

namespace livebtl::ofi {

Blob OfiEndpoint::ticket() const {
  Ticket ticket;
  ticket.address = transport_.own_address();
  ticket.token = token_;
  ticket.credits = connection_.first_granted();
  ticket.payload_bytes_max = kPayloadBytesMax;
  ticket.node = transport_.node();
  ticket.name = transport_.domain().name();
  return encode_ticket(ticket);
}

Status OfiEndpoint::connect(const Ticket& peer) {
  if (!may_reach(peer.address, transport_.own_address()))
    return fail(Errc::kUnreachable, "ofi: the peer uses another provider of libfabric's than " +
                                        transport_.domain().provider() +
                                        ", or is on another node than that reaches");
  if (peer.payload_bytes_max != kPayloadBytesMax || peer.credits < messages::kCreditFloor ||
      peer.credits > ReorderWindow::kPlaces)
    return fail(Errc::kInvalid,
                "ofi: the peer's buffers are of another size; do all processes run the same "
                "livebtl?");
  const auto entered = transport_.domain().peers().enter(peer.name);
  if (!entered) return tl::unexpected(entered.error());
  peer_ = *entered;
  has_peer_ = true;
  peer_token_ = peer.token;
  connection_.meet(peer.credits, transport_.wants_payload_crc(peer.node),
                   " -> " + short_name(peer.token));
  return {};
}

void OfiEndpoint::take_ticket(Bytes ticket) noexcept {
  if (!connection_.awaits_ticket()) return;
  const auto peer = decode_ticket(ticket);
  connection_.dialled(peer ? connect(*peer) : tl::unexpected(peer.error()), transport_.now());
  settle_later();  // messages may have come already
}

}  // namespace livebtl::ofi
