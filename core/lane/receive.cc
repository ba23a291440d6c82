// SPDX-License-Identifier: BSD-3-Clause
// core/lane/receive.cc -- see receive.h.
//
// All that an in-order message passes through is inlined into on_frame(): each call saved is ten
// instructions or more. A transport calls the Path, whose share is here for the same reason.
#include "core/lane/receive.h"

#include "core/engine/context.h"
#include "core/lane/onesided.h"
#include "core/lane/path_events.h"
#include "core/lane/port_state.h"
#include "core/lane/receive_end.h"
#include "core/lane/receive_parts.h"
#include "core/lane/rendezvous.h"
#include "core/lane/send.h"

namespace livebtl::core {

// in: a frame as it came. out: its part of the engine has it, or its path is broken down. An eager
// message that comes in order on a path in use goes straight to its port. The first one on a path,
// or on one that the peer had left, takes the long way, which notes that and confirms the path.
void Receiver::on_frame(Path& path, Bytes header, Bytes payload) noexcept {
  if (header.size() == sizeof(Header<MessageBody>) && path.open() && path.marker.peer_sends())
      [[likely]] {
    Header<MessageBody> message;
    std::memcpy(&message, header.data(), sizeof message);
    if (is_eager(message.head) && message.head.seq == path.peer->rx.reorder.expected()) [[likely]]
      return on_next_message(path, message, payload);
  }
  on_any_frame(path, header, payload);
}

[[gnu::always_inline]] inline void Receiver::on_next_message(Path& path,
                                                             const Header<MessageBody>& message,
                                                             Bytes payload) noexcept {
  Peer& peer = *path.peer;
  if (message.head.ack > peer.tx.acked && !sender_.acknowledged(peer, message.head.ack))
    return path.break_down({Errc::kCorrupt, "the peer acknowledged what was never sent"});
  peer.rx.reorder.arrived_next();
  count_ack_owed(peer, message.head, sizeof message + payload.size());
  on_message(peer, message.head, message.body, payload);
  if (path.box_reader.polled()) [[unlikely]]
    tell_box(path.box_reader);
  if (peer.rx.reorder.early_bytes() != 0) [[unlikely]]
    deliver_early(peer);
}

void Receiver::on_any_frame(Path& path, Bytes header, Bytes payload) noexcept {
  if (path.box_reader.polled()) drain_box(path);
  if (path.down()) return;
  const auto head = decode_head(header);
  if (!head) return path.break_down({Errc::kCorrupt, "the peer sent a malformed frame header"});
  if (head->kind == FrameKind::kHello) return events_.on_hello(path, payload);
  if (!path.open())
    return path.break_down({Errc::kRefused, "the peer sent data before it said who it is"});
  Peer& peer = *path.peer;
  if (!path.confirmed) [[unlikely]] {
    path.confirmed = true;
    events_.on_confirmed(path);
  }
  // An eager frame in its place is found out when the next frame comes.
  if (path.reading_seq != 0 && (head->seq != path.reading_seq || head->kind != FrameKind::kRts))
    return path.break_down({Errc::kCorrupt, "the peer changed a frame that was being read"});
  if (head->ack > peer.tx.acked && !sender_.acknowledged(peer, head->ack))
    return path.break_down({Errc::kCorrupt, "the peer acknowledged what was never sent"});
  if (is_ordered(head->kind)) {
    path.marker.on_ordered(head->seq);
    on_ordered(path, *head, header, payload);
  } else if (head->kind == FrameKind::kData) {
    transfers_.on_data(path, *head, decode_body<DataBody>(header), payload);
  } else if (head->kind == FrameKind::kAck) {
    on_credit(path, decode_body<CreditBody>(header));
  } else {
    events_.on_path_frame(path, *head, header, payload);
  }
}

void Receiver::on_ordered(Path& path, const FrameHead& head, Bytes header, Bytes payload) noexcept {
  Peer& peer = *path.peer;
  switch (peer.rx.reorder.arrived(head.seq, header, payload)) {
    case Reorder::Verdict::kNext:
      [[likely]];
      if (path.reading_seq == head.seq) [[unlikely]] {
        end_offer_read(path, head, header.size(), payload);
      } else {
        count_ack_owed(peer, head, header.size() + payload.size());
        dispatch(peer, head, header, payload);
      }
      return deliver_early(peer);
    case Reorder::Verdict::kEarly:
      ++peer.counts.reordered;
      return;
    case Reorder::Verdict::kDuplicate:
      // A repeat: the peer lost our acknowledgement, so tell it again.
      ++peer.counts.duplicates;
      peer.rx.ack_wanted = true;
      sender_.mark_dirty(peer);
      return;
    case Reorder::Verdict::kOverflow:
      path.break_down(
          {Errc::kLimit, "the peer ran further ahead of its old path than the protocol allows"});
  }
}

void Receiver::deliver_early(Peer& peer) noexcept {
  while (!peer.lost) {
    const auto early = peer.rx.reorder.take_next();
    if (!early) return;
    const auto head = decode_head(early->header);
    count_ack_owed(peer, *head, early->header.size() + early->payload.size());
    dispatch(peer, *head, early->header, early->payload);
  }
}

void Receiver::count_ack_owed(Peer& peer, const FrameHead& head, std::size_t bytes) noexcept {
  peer.rx.unacked_bytes += bytes;
  if ((head.flags & kFlagAckWanted) != 0 ||
      peer.rx.unacked_bytes > context_.config.settings.window_bytes / 4) {
    peer.rx.ack_wanted = true;
    sender_.mark_dirty(peer);
  }
}

void Receiver::dispatch(Peer& peer, const FrameHead& head, Bytes header, Bytes payload) noexcept {
  switch (head.kind) {
    case FrameKind::kEager:
      return on_message(peer, head, decode_body<MessageBody>(header), payload);
    case FrameKind::kRts:
      return on_offer(peer, head, decode_body<RtsBody>(header), payload);
    case FrameKind::kCts:
      return transfers_.on_cts(peer, head, decode_body<CtsBody>(header));
    case FrameKind::kFin:
      return transfers_.on_fin(peer, head, decode_body<FinBody>(header));
    case FrameKind::kDone:
    case FrameKind::kGetReply:
    case FrameKind::kAtomicReply:
      return on_answer(peer, head, decode_body<FinBody>(header), payload);
    case FrameKind::kActive:
      return on_active(peer, head, decode_body<MessageBody>(header), payload);
    case FrameKind::kPut:
      return onesided_.on_put(peer, head, decode_body<RemoteBody>(header), payload);
    case FrameKind::kGet:
      return onesided_.on_get(peer, head, decode_body<RemoteBody>(header));
    case FrameKind::kAtomic:
      return onesided_.on_atomic(peer, head, decode_body<AtomicBody>(header), payload);
    case FrameKind::kAddresses:
      return events_.on_addresses(peer, payload);
    default:
      LIVEBTL_ASSERT(false, "decode_head and is_ordered agree about the kinds");
  }
}

// One more message of the peer's is kept, or awaits its answer. false: the peer is lost, since an
// honest one sends within its credit, and never hears of more credit than was given back.
bool Receiver::hold(Peer& peer, std::size_t bytes) noexcept {
  if (peer.rx.hold(bytes, context_.config.settings)) [[likely]]
    return true;
  events_.on_breach(peer, "it sends more than it has credit for");
  return false;
}

void Receiver::give_back(Peer& peer, std::size_t bytes, std::uint32_t headers) noexcept {
  peer.rx.give_back(bytes, headers);
  if (peer.rx.credit_due()) sender_.mark_dirty(peer);
}

// For a message that was consumed on arrival, and so never counted.
void Receiver::release_credit(Peer& peer, std::size_t bytes) noexcept {
  RxLane& rx = peer.rx;
  rx.released_bytes += bytes;
  ++rx.released_headers;
  if (rx.credit_due()) [[unlikely]]
    sender_.mark_dirty(peer);
}

[[gnu::always_inline]] inline void Receiver::on_message(Peer& peer, const FrameHead& head,
                                                        const MessageBody& body,
                                                        Bytes payload) noexcept {
  PortState* port = ports_.find(head.target_port);
  // A closed port: what still arrives for it is nobody's.
  if (port == nullptr) [[unlikely]] {
    if ((head.flags & kFlagWantDone) != 0)
      return answer_taken(peer, head.seq, payload.size(), Errc::kCancelled);
    return release_credit(peer, payload.size());
  }
  ++peer.rx.messages_received;
  const Envelope envelope = envelope_of(peer, head, body.tag, body.data, payload.size());
  if (Operation* receive = port->matcher.arrived(envelope)) {
    deliver_eager(*receive, envelope, payload);
    if (envelope.want_done) [[unlikely]]
      return answer_taken(peer, envelope.transfer, payload.size(), Errc::kOk);
    return release_credit(peer, payload.size());
  }
  keep_unexpected(*port, envelope, payload);
}

// in: an eager message consumed on arrival whose sender wants to know. It counts as kept until the
// answer is on its way.
void Receiver::answer_taken(Peer& peer, std::uint64_t number, std::size_t bytes,
                            Errc code) noexcept {
  if (!hold(peer, bytes)) return;
  give_back(peer, bytes, 0);
  tell_done(peer, number, code, Role::kAnswersMessage);
}

void Receiver::tell_done(Peer& peer, std::uint64_t number, Errc code, Role role) noexcept {
  sender_.queue_control(peer, FrameKind::kDone, kFlagWantDone, 0, 0,
                        FinBody{number, static_cast<std::uint32_t>(code), 0}, {}, role);
}

[[gnu::always_inline]] inline void Receiver::deliver_eager(Operation& receive,
                                                           const Envelope& envelope,
                                                           Bytes payload) noexcept {
  ReceiveState& state = state_of<ReceiveState>(receive);
  const std::size_t bytes = std::min<std::size_t>(payload.size(), state.capacity);
  Completion completion = envelope.completion(bytes);
  if (state.multi_bytes_min != 0) {
    const MutableSlice place = take_multi(state, bytes);
    completion.buffer = place.data;
    if (bytes != 0) std::memcpy(place.data, payload.data(), bytes);
  } else {
    completion.buffer = state.slice_count != 0 ? state.slices[0].data : nullptr;
    if (state.slice_count == 1) [[likely]]
      copy_bytes(completion.buffer, payload.data(), bytes);
    else
      scatter({state.slices, state.slice_count}, 0, payload.first(bytes));
  }
  end_message(receive, completion);
}

void Receiver::deliver_unexpected(PortState& port, std::unique_ptr<Unexpected> message,
                                  Operation& receive) noexcept {
  const Envelope& envelope = message->envelope;
  unexpected_bytes_ -= message->memory_bytes();
  if (envelope.rendezvous) return deliver_offer(port, receive, envelope, message->header_returned);
  deliver_eager(receive, envelope, {message->payload.get(), envelope.length});
  give_back_eager(*message, Errc::kOk);
}

void Receiver::drop_unexpected(std::unique_ptr<Unexpected> message, Errc code) noexcept {
  const Envelope& envelope = message->envelope;
  unexpected_bytes_ -= message->memory_bytes();
  if (!envelope.rendezvous) return give_back_eager(*message, code);
  transfers_.tell_end(*envelope.source.peer, envelope.transfer, code, role_of_answer(*message));
}

// in: an eager message that was kept. out: it no longer counts, or only until its answer is posted.
void Receiver::give_back_eager(const Unexpected& message, Errc code) noexcept {
  const Envelope& envelope = message.envelope;
  Peer& peer = *envelope.source.peer;
  const bool header_now = !message.header_returned && !envelope.want_done;
  give_back(peer, message.bytes_returned ? 0 : envelope.length, header_now ? 1 : 0);
  if (envelope.want_done) tell_done(peer, envelope.transfer, code, role_of_answer(message));
}

// The caller queues the answer.
Role Receiver::role_of_answer(const Unexpected& message) noexcept {
  if (!message.header_returned) return Role::kAnswersMessage;
  ++message.envelope.source.peer->rx.early_answers;
  return Role::kAnswersEarly;
}

bool Path::is_wanted(Bytes header) noexcept { return parts_.receiver.is_wanted(*this, header); }

MutableBytes Path::on_place(Bytes header, std::size_t payload_bytes, bool to_be_checked) noexcept {
  return parts_.receiver.on_place(*this, header, payload_bytes, to_be_checked);
}

void Path::on_frame(Bytes header, Bytes payload) noexcept {
  parts_.receiver.on_frame(*this, header, payload);
}

}  // namespace livebtl::core
