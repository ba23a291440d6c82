// SPDX-License-Identifier: BSD-3-Clause
// core/lane/receive_offer.cc -- offered messages: to whom they go, and how their bytes are fetched. Under
// the engine's lock. See receive.h.
#include "core/engine/context.h"
#include "core/lane/onesided.h"
#include "core/lane/port_state.h"
#include "core/lane/receive.h"
#include "core/lane/receive_parts.h"
#include "core/lane/rendezvous.h"

namespace livebtl::core {
namespace {

// in: an offer, and the receive that it goes to. out: how it arrives there.
InTransfer transfer_into(PortState& port, Operation& receive, const Envelope& envelope,
                         std::size_t wanted) noexcept {
  ReceiveState& state = state_of<ReceiveState>(receive);
  InTransfer in;
  in.operation = &receive;
  in.port = &port;
  in.peer = envelope.source.peer;
  in.transfer = envelope.transfer;
  in.ahead = envelope.ahead && wanted == envelope.length;
  in.completion = envelope.completion(wanted);
  if (state.multi_bytes_min != 0) {
    in.slices[0] = take_multi(state, wanted);
    in.slice_count = 1;
  } else {
    in.slice_count = state.slice_count;
    std::copy(state.slices, state.slices + state.slice_count, in.slices);
  }
  in.completion.buffer = in.slice_count != 0 ? in.slices[0].data : nullptr;
  return in;
}

// Can all of a message of that length be read into the receive's buffer in one go?
bool takes_in_one(const ReceiveState& state, std::uint64_t length) noexcept {
  return state.slice_count == 1 && state.multi_bytes_min == 0 && length != 0 &&
         length <= state.capacity;
}

}  // namespace

void Receiver::on_offer(Peer& peer, const FrameHead& head, const RtsBody& body,
                        Bytes payload) noexcept {
  if ((head.flags & kFlagPut) != 0) return onesided_.on_put_offer(peer, head, body, payload);
  if ((head.flags & kFlagGet) != 0) return onesided_.on_get_offer(peer, body);
  if (!hold(peer, 0)) return;  // until its end is sent
  if ((head.flags & kFlagAhead) != 0) peer.rx.ahead.offer(body.transfer);
  PortState* port = ports_.find(head.target_port);
  if (port == nullptr)
    return transfers_.tell_end(peer, body.transfer, Errc::kCancelled, Role::kAnswersMessage);
  ++peer.rx.messages_received;
  const Envelope envelope = envelope_of(peer, head, body);
  if (Operation* receive = port->matcher.arrived(envelope))
    return deliver_offer(*port, *receive, envelope, false);
  keep_unexpected(*port, envelope, {});
}

void Receiver::deliver_offer(PortState& port, Operation& receive, const Envelope& envelope,
                             bool credit_returned) noexcept {
  const std::size_t wanted =
      std::min<std::size_t>(envelope.length, state_of<ReceiveState>(receive).capacity);
  InTransfer in = transfer_into(port, receive, envelope, wanted);
  in.credit_returned = credit_returned;
  if (credit_returned) ++in.peer->rx.early_answers;
  transfers_.fetch(*envelope.source.peer, std::move(in), wanted);
}

// The offer takes its receive here, before its bytes are read into that: a read that fails halfway
// must not have touched memory that another message may still go to.
bool Receiver::begin_offer_read(Path& path, const FrameHead& head, const RtsBody& body) noexcept {
  if (path.box_reader.polled()) drain_box(path);
  if (!path.open() || path.keeps || path.reading_seq != 0) return false;
  Peer& peer = *path.peer;
  PortState* const port = ports_.find(head.target_port);
  if (port == nullptr || head.seq != peer.rx.reorder.expected()) return false;
  const Envelope envelope = envelope_of(peer, head, body);
  Operation* const receive = port->matcher.would_take(envelope);
  if (receive == nullptr || !takes_in_one(state_of<ReceiveState>(*receive), body.length))
    return false;
  if (!hold(peer, 0)) return false;  // until its end is sent
  ++peer.rx.messages_received;
  [[maybe_unused]] const Operation* const taken = port->matcher.arrived(envelope);
  LIVEBTL_ASSERT(taken == receive, "the receive that would take it does");
  path.reading_seq = head.seq;
  transfers_.begin_read(path, transfer_into(*port, *receive, envelope, body.length), body.length);
  return true;
}

}  // namespace livebtl::core
