// SPDX-License-Identifier: BSD-3-Clause
// core/lane/send.cc -- see send.h.
#include "core/lane/send.h"

#include "core/engine/context.h"
#include "core/lane/boxes.h"
#include "core/lane/path_events.h"
#include "core/lane/port_state.h"
#include "core/lane/rendezvous.h"

namespace livebtl::core {

Sender::~Sender() = default;

Sender::PooledFrame& Sender::pooled() {
  if (free_.empty()) {
    pool_.push_back(std::make_unique<PooledFrame>());
    pool_.back()->pooled = true;
    return *pool_.back();
  }
  PooledFrame* frame = free_.back();
  free_.pop_back();
  return *frame;
}

void Sender::recycle(PooledFrame& frame) noexcept {
  frame.payload_copy.clear();
  free_.push_back(&frame);
}

void Sender::mark_dirty(Peer& peer) noexcept {
  if (peer.dirty) return;
  peer.dirty = true;
  dirty_.push_back(&peer);
}

void Sender::queue(Peer& peer, OutFrame& frame) noexcept {
  TxLane& tx = peer.tx;
  tx.lease.end();  // what comes later must not pass it
  (frame.role == Role::kMessage   ? tx.messages
   : frame.role == Role::kRequest ? tx.requests
                                  : tx.control)
      .push(frame);
  mark_dirty(peer);
  if (peer.send_path == nullptr) events_.want_path(peer);
}

void Sender::fill(PooledFrame& frame, Bytes payload) {
  frame.payload_copy.assign(payload.begin(), payload.end());
  frame.payload_bytes = payload.size();
  frame.slices[0] = {frame.payload_copy.data(), payload.size()};
  frame.slice_count = 1;
}

void Sender::queue_pooled(Peer& peer, Bytes header, Bytes payload, Role role) {
  if (peer.failed) return;  // nobody is left to read it
  PooledFrame& frame = pooled();
  std::memcpy(frame.header, header.data(), header.size());
  frame.header_bytes = static_cast<std::uint8_t>(header.size());
  fill(frame, payload);
  frame.operation = nullptr;
  frame.role = role;
  queue(peer, frame);
}

void Sender::queue_addresses(Peer& peer, Bytes payload) {
  // A waiting announcement is updated: a peer that takes none must not fill our memory.
  for (OutFrame* each = peer.tx.control.first; each != nullptr; each = each->next) {
    if (each->head().kind != FrameKind::kAddresses) continue;
    return fill(static_cast<PooledFrame&>(*each), payload);
  }
  const FrameHead head{FrameKind::kAddresses, kFlagAckWanted, 0, 0, 0, 0, 0};
  ++peer.announcements_queued;
  queue_pooled(peer, bytes_of(head), payload, Role::kPlain);
}

Bytes Sender::gather_several(std::span<const Slice> slices, std::size_t bytes) noexcept {
  if (bytes == 0) return {};
  if (scratch_.size() < bytes) scratch_.resize(bytes);
  std::size_t filled = 0;
  for (const Slice& slice : slices) {
    if (slice.bytes != 0) std::memcpy(scratch_.data() + filled, slice.data, slice.bytes);
    filled += slice.bytes;
  }
  return {scratch_.data(), bytes};
}

// in: a header without number. exposed_as: the cookie of a payload that is exposed, not copied; 0:
// it is copied. out: on kDone and kPosted it has a number; kept if its path may lose frames.
[[gnu::always_inline]] inline Post Sender::post_ordered(Peer& peer, Path& path, FrameHead& head,
                                                        std::size_t header_bytes, Bytes payload,
                                                        std::uint64_t exposed_as) noexcept {
  TxLane& tx = peer.tx;
  if (tx.lease.given != 0) tx.lease.end();
  const std::size_t bytes = header_bytes + payload.size();
  if (tx.overtake_bytes != SIZE_MAX) [[unlikely]] {
    if (bytes > tx.overtake_bytes) return Post::kRetry;
    head.flags |= kFlagAckWanted;  // the answer shows that overtaking is over
  }
  head.seq = tx.next_seq;
  head.ack = peer.rx.reorder.expected();
  const Bytes header{reinterpret_cast<const std::byte*>(&head), header_bytes};
  if (path.keeps) {
    if (!tx.window->fits(header_bytes, payload.size())) return Post::kRetry;
    // A window that fills up faster than acknowledgements come back asks for one.
    if (tx.window->kept_bytes() > tx.window->capacity_bytes() / 2) head.flags |= kFlagAckWanted;
  }
  const bool exposed = exposed_as != 0;
  const Post post = path.endpoint->post({header, payload, exposed_as, exposed, exposed});
  if (post == Post::kRetry || (exposed && post == Post::kSmaller)) return post;
  if (path.keeps) tx.window->keep(tx.next_seq, header, payload);
  ++tx.next_seq;
  if (tx.overtake_bytes != SIZE_MAX) tx.overtake_bytes -= bytes;
  peer.rx.ack_sent = head.ack;
  peer.rx.unacked_bytes = 0;
  peer.rx.ack_wanted = false;
  return post;
}

Accept Sender::send_by_endpoint(PortState& port, const SendRequest& request,
                                Operation* operation) noexcept {
  Peer& peer = *request.to.peer;
  const std::size_t bytes = total_bytes(request.slices);
  if (peer.lost) return Accept::kPeerLost;
  if (request.slices.size() > kSlicesMax || (operation == nullptr && bytes > kInjectBytesMin))
    return Accept::kInvalid;
  if (port.is_full(context_.config.settings.operations_max)) return Accept::kBusy;

  std::uint8_t flags = request.kind == MessageKind::kTagged ? kFlagTagged : 0;
  if (request.has_data) flags |= kFlagHasData;
  if (request.delivery_complete) flags |= kFlagWantDone;
  Header<MessageBody> header{{FrameKind::kEager, flags, 0, request.to.port, port.id, 0, 0},
                             {request.tag, request.data}};
  Path* path = peer.send_path;
  const bool fast = path != nullptr && peer.tx.idle() && bytes <= path->slot.caps.eager_bytes_max &&
                    peer.tx.has_credit(bytes) && !request.delivery_complete;
  if (fast && post_ordered(peer, *path, header.head, sizeof(header),
                           gather(request.slices, bytes)) == Post::kDone) [[likely]] {
    peer.tx.used_bytes += bytes;
    ++peer.tx.used_headers;
    ++peer.tx.messages_sent;
    if (path->box != nullptr && fits_box(port.id, request)) boxes_.count_small(*path);
    if (operation != nullptr) operation->done(*operation, {.tag = request.tag, .bytes = bytes});
    return Accept::kAccepted;
  }
  return send_later(port, request, operation, header, bytes);
}

Accept Sender::send_later(PortState& port, const SendRequest& request, Operation* operation,
                          const Header<MessageBody>& header, std::size_t bytes) noexcept {
  Peer& peer = *request.to.peer;
  if (operation == nullptr) {
    // The buffer is the caller's again: what cannot go now waits as a copy, within header credit.
    const bool full = peer.queued_injects >= context_.config.settings.credit_headers;
    if (full || port.options.waits_in_operations) return Accept::kBusy;
    ++peer.queued_injects;
    queue_pooled(peer, bytes_of(header), gather(request.slices, bytes), Role::kMessage);
  } else {
    queue_send(port, request, *operation, header, bytes);
  }
  return Accept::kAccepted;
}

void Sender::queue_send(PortState& port, const SendRequest& request, Operation& operation,
                        const Header<MessageBody>& header, std::size_t bytes) noexcept {
  SendState& state = start_state<SendState>(operation);
  state.port = &port;
  state.bytes = bytes;
  state.peer = request.to.peer;
  state.completes_when_posted = !request.delivery_complete;
  state.frame.operation = &operation;
  state.frame.set_header(header);
  state.frame.payload_bytes = bytes;
  state.frame.role = Role::kMessage;
  state.frame.slice_count = static_cast<std::uint8_t>(request.slices.size());
  std::copy(request.slices.begin(), request.slices.end(), state.frame.slices);
  ++port.open_operations;
  queue(*state.peer, state.frame);
}

Accept Sender::send_active(PortState& port, const Destination& to, std::uint8_t handler,
                           std::uint64_t argument, std::span<const Slice> slices,
                           Operation& operation) noexcept {
  const std::size_t bytes = total_bytes(slices);
  if (to.peer->lost) return Accept::kPeerLost;
  if (slices.size() > kSlicesMax || bytes > kActiveBytesMax) return Accept::kInvalid;
  if (port.is_full(context_.config.settings.operations_max)) return Accept::kBusy;
  queue_send(port, {.to = to, .slices = slices}, operation,
             {{FrameKind::kActive, 0, 0, to.port, port.id, 0, 0}, {argument, handler}}, bytes);
  return Accept::kAccepted;
}

bool Sender::flush_queue(Peer& peer, Path& path, FrameQueue& queue, std::size_t& posted) noexcept {
  while (OutFrame* frame = queue.first) {
    if (frame->role == Role::kMessage && !spend_credit(peer, path, *frame)) return true;
    if (frame->role == Role::kRequest && !peer.tx.has_request_room()) return true;
    const std::uint64_t seq = peer.tx.next_seq;
    const Bytes payload = gather({frame->slices, frame->slice_count}, frame->payload_bytes);
    const Post post = frame->exposes
                          ? post_exposing(peer, path, *frame)
                          : post_ordered(peer, path, frame->head(), frame->header_bytes, payload);
    if (post == Post::kRetry) return false;
    queue.pop();
    ++posted;
    taken(peer, *frame, seq);
  }
  return true;
}

// The offer waits behind data that were asked for, and until the path can expose one more payload; but
// not for long, since all messages behind it wait, too. Then, and where nothing can be exposed (any
// more), it goes alone.
Post Sender::post_exposing(Peer& peer, Path& path, OutFrame& frame) noexcept {
  const std::uint64_t name = decode_body<RtsBody>({frame.header, frame.header_bytes}).transfer;
  const Bytes offered = transfers_.to_expose(peer, path, name);
  const bool busy = path.sent < path.bulk_awaits || !peer.sending.empty();
  if (!offered.empty() && busy && transfers_.may_wait(name)) return Post::kRetry;
  if (!offered.empty() && !busy) {
    const Post post = post_ordered(peer, path, frame.head(), frame.header_bytes, offered, name);
    if (post == Post::kPosted) transfers_.exposed(path, name);
    if (post == Post::kRetry && !path.posted.empty()) path.bulk_awaits = path.sent + 1;
    if (post != Post::kSmaller) return post;
    peer.exposes_offers.answered(false);
  }
  frame.exposes = false;
  transfers_.not_exposed(path, name);
  return post_ordered(peer, path, frame.head(), frame.header_bytes, {});
}

void Sender::count(Peer& peer, OutFrame& frame) noexcept {
  switch (frame.role) {
    case Role::kMessage:
      ++peer.tx.used_headers;
      peer.tx.used_bytes += frame.payload_bytes;
      ++peer.tx.messages_sent;
      if (frame.pooled) --peer.queued_injects;
      if ((frame.head().flags & kFlagAhead) != 0) [[unlikely]]
        transfers_.go_ahead(peer,
                            decode_body<RtsBody>({frame.header, frame.header_bytes}).transfer);
      return;
    case Role::kRequest:
      ++peer.tx.open_requests;
      if (frame.head().kind == FrameKind::kRts) {
        const auto rts = decode_body<RtsBody>({frame.header, frame.header_bytes});
        transfers_.request_posted(rts.transfer);
      }
      return;
    case Role::kAnswersMessage:
      return peer.rx.give_back(0, 1);
    case Role::kAnswersEarly:
      --peer.rx.early_answers;
      return;
    case Role::kAnswersRequest:
      return peer.rx.end_request();
    case Role::kPlain:
      return;
  }
}

// A frame is on its way: count it, and complete an operation that waits only for that.
void Sender::taken(Peer& peer, OutFrame& frame, std::uint64_t seq) noexcept {
  count(peer, frame);
  if (frame.pooled) {
    if (frame.head().kind == FrameKind::kAddresses) {
      --peer.announcements_queued;
      peer.announced = seq + 1;
    }
    recycle(static_cast<PooledFrame&>(frame));
    return;
  }
  Operation& operation = *frame.operation;
  SendState& state = state_of<SendState>(operation);
  if (frame.head().kind == FrameKind::kEager && (frame.head().flags & kFlagWantDone) != 0) {
    peer.awaiting_done.emplace(seq, &operation);
  } else if (state.completes_when_posted) {
    end_operation(operation, {.bytes = state.bytes});
  }
}

void Sender::replay(Peer& peer, std::uint64_t from, std::uint64_t end) noexcept {
  if (from >= end) return;
  peer.tx.lease.end();
  if (peer.tx.replay_seq < peer.tx.replay_end) {
    peer.tx.replay_seq = std::min(peer.tx.replay_seq, from);
    peer.tx.replay_end = std::max(peer.tx.replay_end, end);
  } else {
    peer.tx.replay_seq = from;
    peer.tx.replay_end = end;
  }
  mark_dirty(peer);
}

// true: nothing (more) to replay.
bool Sender::flush_replay(Peer& peer, Path& path) noexcept {
  TxLane& tx = peer.tx;
  while (tx.replay_seq < tx.replay_end) {
    const auto kept =
        tx.window ? tx.window->at_or_after(std::max(tx.replay_seq, tx.acked)) : std::nullopt;
    if (!kept || kept->seq >= tx.replay_end) {
      tx.replay_seq = tx.replay_end = 0;
      return true;
    }
    std::byte header[kHeaderBytesMax];
    std::memcpy(header, kept->header.data(), kept->header.size());
    const std::uint64_t ack = peer.rx.reorder.expected();
    std::memcpy(header + offsetof(FrameHead, ack), &ack, sizeof(ack));
    if (path.endpoint->post({{header, kept->header.size()}, kept->payload, 0, false}) ==
        Post::kRetry)
      return false;
    tx.replay_seq = kept->seq + 1;
    ++peer.counts.retransmitted;
    peer.rx.ack_sent = ack;
  }
  return true;
}

std::size_t Sender::flush(Peer& peer) noexcept {
  std::size_t posted = 0;
  flush_path_notes(peer);
  Path* path = peer.send_path;
  if (path == nullptr || !path->open()) {
    if (peer.has_to_send()) events_.want_path(peer);
    return posted;
  }
  if (!flush_replay(peer, *path) || !flush_queue(peer, *path, peer.tx.control, posted) ||
      !flush_queue(peer, *path, peer.tx.requests, posted) ||
      !flush_queue(peer, *path, peer.tx.messages, posted)) {
    mark_dirty(peer);
  }
  posted += transfers_.pump(peer, 256u << 10);
  if (!peer.sending.empty()) mark_dirty(peer);
  const bool due = peer.rx.ack_wanted || peer.rx.credit_due();
  if (due && !post_ack(peer, *path)) mark_dirty(peer);
  return posted;
}

std::size_t Sender::flush_dirty() noexcept {
  std::size_t posted = 0;
  dirty_now_.swap(dirty_);
  for (Peer* peer : dirty_now_) {
    peer->dirty = false;
    posted += flush(*peer);
  }
  dirty_now_.clear();
  queued_posted_ += posted;
  return posted;
}

void Sender::release(Peer& peer) noexcept {
  peer.tx.window->release(peer.tx.acked);
  if (!peer.tx.idle()) mark_dirty(peer);
}

}  // namespace livebtl::core
