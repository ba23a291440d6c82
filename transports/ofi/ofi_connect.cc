// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_connect.cc -- the tickets of an endpoint: its own, and the peer's (see
// ofi_endpoint.h).
#include "transports/ofi/ofi_transport.h"

namespace livebtl::ofi {

Blob OfiEndpoint::ticket() const {
  Ticket ticket;
  ticket.address = transport_.own_address();
  ticket.token = token_;
  ticket.credits = first_promised_;
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
      peer.credits > Row::kPlaces)
    return fail(Errc::kInvalid,
                "ofi: the peer's buffers are of another size; do all processes run the same "
                "livebtl?");
  const auto entered = transport_.domain().peers().enter(peer.name);
  if (!entered) return tl::unexpected(entered.error());
  peer_ = *entered;
  has_peer_ = true;
  peer_token_ = peer.token;
  peer_promised_ = peer.credits;
  payload_crc_ = transport_.wants_payload_crc(peer.node);
  described_ += " -> " + short_name(peer.token);
  return {};
}

void OfiEndpoint::take_ticket(Bytes ticket) noexcept {
  if (state_ != State::kDialled || failed_.code != Errc::kOk) return;
  const auto peer = decode_ticket(ticket);
  const Status connected = peer ? connect(*peer) : tl::unexpected(peer.error());
  if (connected) {
    state_ = State::kOpen;
    heard_ = transport_.now();
  } else {
    failed_ = connected.error();
  }
  transport_.settle_later(*this);
}

}  // namespace livebtl::ofi
