// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_endpoint.cc -- see verbs_endpoint.h.
#include "transports/verbs/verbs_endpoint.h"

#include "base/assert.h"
#include "transports/verbs/verbs_errors.h"
#include "transports/verbs/verbs_transport.h"

namespace livebtl::verbs {

/// More buffers than any peer has.
constexpr std::uint32_t kGrantsMax = 1u << 16;

VerbsEndpoint::VerbsEndpoint(VerbsTransport& transport, std::unique_ptr<QueuePair> pair,
                             bool dialled)
    : transport_(transport),
      pair_(std::move(pair)),
      connection_(*this, transport.credits(), dialled,
                  "verbs " + transport.device().name() + " qp " + std::to_string(number()),
                  kGrantsMax, transport.now()) {
  transport_.enter(number(), *this);
  transport_.share_sends();
}

VerbsEndpoint::~VerbsEndpoint() {
  transport_.leave(number(), *this);
  transport_.share_sends();
  for (const Arrived& message : early_) buffer_free(message.buffer);
  connection_.part();
  end_registrations();
  std::optional<std::uint32_t> held;  // the device may still write there
  if (read_ && read_->holds_buffer())
    held = read_->buffer();
  else if (read_)
    buffer_free(read_->buffer());
  const bool on_its_way = bye_sent_ && pair_->sends() != 0 && !held;
  transport_.park(std::move(pair_), connection_.open_grants(), on_its_way, held);
}

void VerbsEndpoint::attach(core::EndpointSink& sink) noexcept {
  waits_ = false;
  connection_.attach(sink);
}

void VerbsEndpoint::settle_later() noexcept { transport_.settle_later(*this); }

Blob VerbsEndpoint::ticket() const {
  const PortState& port = transport_.device().port().state;
  Ticket ticket;
  ticket.port = port.address;
  ticket.queue_pair = pair_->number();
  ticket.first_packet = pair_->first_packet();
  ticket.credits = connection_.first_granted();
  ticket.payload_bytes_max = kPayloadBytesMax;
  ticket.node = transport_.node();
  ticket.mtu = port.mtu;
  return encode_ticket(ticket);
}

Status VerbsEndpoint::connect(const Ticket& peer) {
  if (!may_reach(peer.port, transport_.device().port().state.address)) {
    return fail(Errc::kUnreachable, "verbs: the peer's port " + to_text(peer.port.gid) +
                                        " is on another kind of fabric than ours, or has an "
                                        "address of another kind");
  }
  if (peer.payload_bytes_max != kPayloadBytesMax || peer.credits < messages::kCreditFloor) {
    return fail(Errc::kInvalid,
                "verbs: the peer's buffers are of another size; do all processes run the same "
                "livebtl?");
  }
  if (Status connected = pair_->connect(peer); !connected) return connected;
  connection_.meet(peer.credits, transport_.wants_payload_crc(peer.node),
                   " " + to_text(transport_.device().port().state.address.gid) + " -> qp " +
                       std::to_string(peer.queue_pair) + " " + to_text(peer.port.gid));
  return {};
}

void VerbsEndpoint::take_ticket(Bytes ticket) noexcept {
  if (!connection_.awaits_ticket()) return;
  const auto peer = decode_ticket(ticket);
  connection_.dialled(peer ? connect(*peer) : tl::unexpected(peer.error()), transport_.now());
}

core::Post VerbsEndpoint::post(const core::Frame& frame) noexcept {
  LIVEBTL_ASSERT(frame.header.size() - 1 < core::kHeaderBytesMax, "a header of 1 to 64 bytes");
  if (frame.exposed) [[unlikely]]
    return expose(frame);
  if (!connection_.may_send()) return core::Post::kRetry;
  return posted(pair_->send_frame(frame, connection_.granted(), connection_.wants_payload_crc()),
                frame, core::Post::kDone);
}

core::Post VerbsEndpoint::posted(bool taken, const core::Frame& frame, core::Post how) noexcept {
  end_if_failed();
  if (!taken) return core::Post::kRetry;
  connection_.frame_sent(frame);
  return how;
}

void VerbsEndpoint::end_if_failed() noexcept {
  if (pair_->error() != 0) [[unlikely]]
    settle_later();
}

bool VerbsEndpoint::post_control(Kind kind, std::uint32_t granted, std::uint32_t read) noexcept {
  const bool taken = pair_->send_control(kind, granted, read);
  end_if_failed();
  return taken;
}

Bytes VerbsEndpoint::message_bytes(const Arrived& message) const noexcept {
  return transport_.device().received(message.buffer, message.bytes);
}

bool VerbsEndpoint::arrived(const Arrived& message) noexcept {
  connection_.heard(transport_.now());
  if (connection_.is_open() && (waits_ || !early_.empty())) {
    early_.push_back(message);
    if (read_)
      connection_.look_for_bye(message_bytes(message));
    else if (connection_.sink() != nullptr)
      settle_later();
    return false;
  }
  return handle(message);
}

std::size_t VerbsEndpoint::deliver(std::size_t frames_max) noexcept {
  std::size_t moved = 0;
  while (has_ready() && moved < frames_max) {
    const Arrived message = early_.front();
    early_.pop_front();
    if (handle(message)) ++moved;
  }
  return moved;
}

// in: a message in its buffer. out: the sink has had it, and the buffer is the device's again; or
// its payload is being read through that buffer.
bool VerbsEndpoint::handle(const Arrived& arrived) noexcept {
  using Taken = messages::Connection::Taken;
  Message special;
  const Taken taken = connection_.take(message_bytes(arrived), special);
  if (taken == Taken::kExposed && begin_read(arrived, special)) return false;
  if (taken == Taken::kReads) connection_.take_back(exposed_, special.head.payload_crc);
  buffer_free(arrived.buffer);
  connection_.tell();
  return taken == Taken::kFrame;
}

void VerbsEndpoint::buffer_free(std::uint32_t buffer) noexcept {
  transport_.buffer_free(buffer);
  connection_.buffer_freed();
}

void VerbsEndpoint::peer_answered() noexcept {
  connection_.heard(transport_.now());
  connection_.tell();
}

void VerbsEndpoint::settle() noexcept {
  if (pair_->error() != 0)
    connection_.note_failure({Errc::kDown, describe() + ": the device takes nothing to send: " +
                                               errno_text(pair_->error())});
  if (!connection_.settle()) return;
  if (read_ && !read_->under_way()) post_read();
  connection_.tell();
}

void VerbsEndpoint::ask_if_silent(TimeNs now) noexcept {
  constexpr TimeNs kSilence = kSecond;
  if (!connection_.is_open() || now - connection_.last_heard() < kSilence) return;
  pair_->send_nothing();
  end_if_failed();
}

void VerbsEndpoint::release() noexcept {
  end_registrations();
  for (; !early_.empty(); early_.pop_front()) buffer_free(early_.front().buffer);
}

}  // namespace livebtl::verbs
