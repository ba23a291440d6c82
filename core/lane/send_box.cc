// SPDX-License-Identifier: BSD-3-Clause
// core/lane/send_box.cc -- where a message starts (see send.h): in the peer's fast box if there is
// a lease, else at the endpoint. Under the engine's lock.
#include "core/lane/boxes.h"
#include "core/lane/port_state.h"
#include "core/lane/send.h"

namespace livebtl::core {

// From here on the slot is the message's: its word is stored last. fill: writes the slot's payload.
template <class Fill>
[[gnu::always_inline]] inline void Sender::commit(PortState& port, const SendRequest& request,
                                                  std::size_t bytes, std::size_t said_bytes,
                                                  const Fill& fill) noexcept {
  Peer& peer = *request.to.peer;
  Lease& lease = peer.tx.lease;
  --lease.left;
  lease.bytes -= static_cast<std::uint32_t>(bytes);
  BoxSlot& slot = lease.slots[peer.tx.next_seq % kBoxSlots];
  slot.tag = request.tag;
  slot.data = request.data;
  fill(slot.payload);
  const auto flags =
      static_cast<std::uint8_t>((request.has_data ? kFlagHasData : 0) |
                                (request.kind == MessageKind::kTagged ? kFlagTagged : 0));
  std::atomic_ref(slot.word).store(
      box_word(peer.tx.next_seq, said_bytes, flags, port.id, request.to.port),
      std::memory_order_release);
  ++peer.tx.next_seq;
  peer.tx.used_bytes += bytes;
  ++peer.tx.used_headers;
  ++peer.tx.messages_sent;
  std::atomic_signal_fence(
      std::memory_order_seq_cst);  // write first, then look: FastBox::wake_reader()
  if (std::atomic_ref(const_cast<std::uint32_t&>(*lease.asleep)).load(std::memory_order_relaxed) %
          2 ==
      1) [[unlikely]]
    peer.send_path->box->wake_reader();
}

// Sends by lease: reads only the lease and, for a small message, writes one cache line. false: no
// lease covers the message.
[[gnu::always_inline]] inline bool Sender::put_into_box(PortState& port,
                                                        const SendRequest& request) noexcept {
  Peer& peer = *request.to.peer;
  Lease& lease = peer.tx.lease;
  const Slice slice = request.slices.empty() ? Slice{} : request.slices.front();
  if (lease.left == 0 || slice.bytes > lease.bytes) [[unlikely]] {
    if (slice.bytes > kBoxBodyBytesMax || !boxes_.renew(peer) || slice.bytes > lease.bytes)
      return false;
  }
  if (slice.bytes > kBoxInlineBytes) [[unlikely]]
    return put_with_body(port, request);
  commit(port, request, slice.bytes, slice.bytes, [&](std::byte* payload) {
    copy_small(payload, static_cast<const std::byte*>(slice.data), slice.bytes);
  });
  return true;
}

// A message too long for a slot. false: the area beside the slots cannot take it, or not now.
[[gnu::noinline]] bool Sender::put_with_body(PortState& port, const SendRequest& request) noexcept {
  Peer& peer = *request.to.peer;
  TxLane& tx = peer.tx;
  const Slice& slice = request.slices.front();
  if (slice.bytes > kBoxBodyBytesMax) return false;
  BoxWriter& writer = *tx.lease.writer;
  std::uint32_t offset = writer.bodies.place(slice.bytes, tx.next_seq, writer.taken);
  if (offset == BoxBodies::kNone) [[unlikely]] {
    if (!boxes_.renew(peer) || slice.bytes > tx.lease.bytes) return false;
    offset = writer.bodies.place(slice.bytes, tx.next_seq, writer.taken);
    if (offset == BoxBodies::kNone) return false;
  }
  writer.body_bytes += slice.bytes;
  std::memcpy(tx.lease.area + offset, slice.data, slice.bytes);
  const BoxBody body{offset, static_cast<std::uint32_t>(slice.bytes)};
  commit(port, request, slice.bytes, kBoxHasBody,
         [&](std::byte* payload) { std::memcpy(payload, &body, sizeof body); });
  return true;
}

Accept Sender::send(PortState& port, const SendRequest& request, Operation* operation) noexcept {
  Peer& peer = *request.to.peer;
  if ((peer.tx.lease.left != 0 || boxes_.renewable(peer)) && boxable(port.id, request) &&
      put_into_box(port, request)) {
    if (operation != nullptr)
      operation->done(*operation, {.tag = request.tag, .bytes = total_bytes(request.slices)});
    return Accept::kAccepted;
  }
  return send_by_endpoint(port, request, operation);
}

}  // namespace livebtl::core
