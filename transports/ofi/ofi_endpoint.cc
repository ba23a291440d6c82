// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_endpoint.cc -- see ofi_endpoint.h.
#include "transports/ofi/ofi_endpoint.h"

#include <algorithm>

#include "base/assert.h"
#include "transports/ofi/ofi_transport.h"

namespace livebtl::ofi {

OfiEndpoint::OfiEndpoint(OfiTransport& transport, std::uint64_t token, bool dialled)
    : transport_(transport),
      token_(token),
      connection_(*this, transport.credits(), dialled,
                  "ofi " + transport.domain().provider() + " " + short_name(token),
                  ReorderWindow::kPlaces, transport.now()) {
  transport_.enter(token_, *this);
}

OfiEndpoint::~OfiEndpoint() {
  connection_.part();
  connection_.close();
  end_zero_copy("a connection ended while memory was exposed");
  drop_waiting();
  if (has_peer_) transport_.domain().peers().leave(peer_);
  transport_.end_all_of(*this);
  transport_.leave(token_, *this);
}

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
    return fail(Errc::kUnreachable, "ofi: the peer uses another libfabric provider than " +
                                        transport_.domain().provider() +
                                        ", or is on a node that this provider does not reach");
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
  settle_later();  // messages may have arrived already
}

void OfiEndpoint::settle_later() noexcept { transport_.settle_later(*this); }

Error OfiEndpoint::down(const char* what, long code) const {
  return {Errc::kDown, describe() + ": " + what + ": " + transport_.domain().explain(code)};
}

bool OfiEndpoint::may_post() const noexcept {
  return connection_.may_send() && frames_ < transport_.sends_for_each();
}

core::Post OfiEndpoint::post(const core::Frame& frame) noexcept {
  LIVEBTL_ASSERT(frame.header.size() - 1 < core::kHeaderBytesMax, "a header of 1 to 64 bytes");
  if (frame.exposed) [[unlikely]]
    return expose(frame);
  if (!may_post()) return core::Post::kRetry;
  Buffer* const buffer = transport_.domain().begin_send(this, peer_, Use::kFrame);
  if (buffer == nullptr) return core::Post::kRetry;
  std::byte* const to = buffer->bytes + sizeof(Route);
  const std::size_t begin =
      messages::encode_frame(frame, connection_.granted(), connection_.wants_payload_crc(), to);
  copy_bytes(to + begin, frame.payload.data(), frame.payload.size());
  return send_frame(*buffer, begin + frame.payload.size(), frame, core::Post::kDone);
}

core::Post OfiEndpoint::send_frame(Buffer& buffer, std::size_t bytes, const core::Frame& frame,
                                   core::Post how) noexcept {
  if (!send(buffer, bytes)) return core::Post::kRetry;
  ++frames_;
  connection_.frame_sent(frame);
  return how;
}

// in: a message after room for its route. false: it was not sent.
bool OfiEndpoint::send(Buffer& buffer, std::size_t bytes) noexcept {
  const Route route = next_route();
  std::memcpy(buffer.bytes, &route, sizeof route);
  const long code = transport_.domain().send(buffer, sizeof route + bytes);
  if (code == 0) {
    unsent_since_ = 0;
    return true;
  }
  if (unsent_since_ == 0) unsent_since_ = transport_.now();
  if (code != -FI_EAGAIN) connection_.fail(down("nothing can be sent", code));
  return false;
}

bool OfiEndpoint::post_control(Kind kind, std::uint32_t granted, std::uint32_t read) noexcept {
  Buffer* const buffer = transport_.domain().begin_send(this, peer_, Use::kControl);
  if (buffer == nullptr) return false;
  std::byte* const to = buffer->bytes + sizeof(Route);
  if (!send(*buffer, messages::encode_control(kind, granted, read, to))) return false;
  ++controls_;
  return true;
}

void OfiEndpoint::arrived(std::uint32_t number, const Arrived& message) noexcept {
  connection_.heard(transport_.now());
  unsent_since_ = 0;
  if (!connection_.is_down()) {
    if (window_.put(number, message, connection_.open_grants() - (read_ ? 1 : 0))) {
      if (read_) connection_.look_for_bye(message_bytes(message));
      return;
    }
    take_down({Errc::kCorrupt, describe() + ": a message with an impossible sequence number"});
  }
  transport_.buffer_free(*message.buffer);  // no credit was granted for it
}

std::size_t OfiEndpoint::deliver(std::size_t frames_max) noexcept {
  std::size_t moved = 0;
  while (moved < frames_max && has_ready()) moved += handle(window_.take()) ? 1 : 0;
  return moved;
}

// in: the next message in order. true: the sink has had a frame. The buffer is libfabric's again,
// or is kept until a payload is read.
bool OfiEndpoint::handle(const Arrived& arrived) noexcept {
  using Taken = messages::Connection::Taken;
  messages::Message special;
  const Taken taken = connection_.take(message_bytes(arrived), special);
  if (taken == Taken::kExposed && begin_read(*arrived.buffer, special)) return false;
  // Once the domain is stopped, users have their memory back already.
  if (taken == Taken::kReads && !transport_.domain().stopped())
    connection_.take_back(exposed_, special.head.payload_crc);
  buffer_free(*arrived.buffer);
  connection_.tell();
  return taken == Taken::kFrame;
}

void OfiEndpoint::buffer_free(Buffer& buffer) noexcept {
  transport_.buffer_free(buffer);
  connection_.buffer_freed();
}

void OfiEndpoint::drop_waiting() noexcept {
  for (Arrived left = window_.drop(); left.buffer != nullptr; left = window_.drop())
    buffer_free(*left.buffer);
}

void OfiEndpoint::sent(Use use, long code) noexcept {
  --(use == Use::kFrame ? frames_ : controls_);
  if (code != 0) return take_down(down("what was sent did not get there", code));
  connection_.tell();
}

void OfiEndpoint::settle() noexcept {
  if (!connection_.settle()) return;
  if (read_ && !read_->under_way()) post_read();
  connection_.tell();
}

void OfiEndpoint::look(TimeNs now) noexcept {
  constexpr TimeNs kSilence = 5 * kSecond;  // the question wakes a sleeping peer
  // Messages overtake each other by as long as a read takes, not by seconds.
  constexpr TimeNs kMissingTime = 10 * kSecond;
  constexpr TimeNs kUnsentTime = 10 * kSecond;  // no send is taken, and nothing arrives
  if (!is_open()) return;
  if (window_.missing_for(now) >= kMissingTime)
    return take_down({Errc::kDown, describe() + ": a message was lost on the way"});
  if (unsent_since_ != 0 && now - unsent_since_ >= kUnsentTime)
    return take_down({Errc::kDown, describe() + ": the provider takes nothing to send"});
  look_at_read(now);
  if (!is_open() || now - std::max(connection_.last_heard(), asked_) < kSilence) return;
  asked_ = now;
  // Asks whether the peer is there: failure is reported. Must leave the credit that a grant needs.
  if (controls_ == 0 && connection_.may_send()) (void)connection_.send_control(Kind::kCredit);
}

// Nothing is sent to a peer that has said BYE.
void OfiEndpoint::send_bye() noexcept {
  if (connection_.peer_has_gone() || connection_.send_control(Kind::kBye)) return;
  transport_.pending_byes().add(transport_.domain(), peer_, next_route(), connection_.granted());
}

void OfiEndpoint::release() noexcept {
  end_zero_copy("a connection broke while memory was exposed");
  drop_waiting();
}

}  // namespace livebtl::ofi
