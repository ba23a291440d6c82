// SPDX-License-Identifier: BSD-3-Clause
// core/lane/send_box.cc -- where a message starts (see send.h): into the peer's fast box, if there is a lease, or by the
// endpoint. Under the engine's lock.
#include "core/lane/boxes.h"
#include "core/lane/port_state.h"
#include "core/lane/send.h"

namespace livebtl::core {

// A small message by a lease: nothing but the lease is looked at, and one line is written. false: there is none for it.
[[gnu::always_inline]] inline bool Sender::put_into_box(PortState& port,
                                                        const SendRequest& request) noexcept {
  Peer& peer = *request.to.peer;
  Lease& lease = peer.tx.lease;
  const Slice slice = request.slices.empty() ? Slice{} : request.slices.front();
  if ((lease.left == 0 || slice.bytes > lease.bytes) && !boxes_.renew(peer)) [[unlikely]]
    return false;
  if (slice.bytes > lease.bytes) [[unlikely]]
    return false;
  --lease.left;
  lease.bytes -= static_cast<std::uint32_t>(slice.bytes);
  BoxSlot& slot = lease.slots[peer.tx.next_seq % kBoxSlots];
  slot.tag = request.tag;
  slot.data = request.data;
  copy_small(slot.payload, static_cast<const std::byte*>(slice.data), slice.bytes);
  const auto flags =
      static_cast<std::uint8_t>((request.has_data ? kFlagHasData : 0) |
                                (request.kind == MessageKind::kTagged ? kFlagTagged : 0));
  std::atomic_ref(slot.word).store(
      box_word(peer.tx.next_seq, slice.bytes, flags, port.id, request.to.port),
      std::memory_order_release);
  ++peer.tx.next_seq;
  peer.tx.used_bytes += slice.bytes;
  ++peer.tx.used_headers;
  ++peer.tx.messages_sent;
  std::atomic_signal_fence(
      std::memory_order_seq_cst);  // written first, then looked: FastBox::wake_reader()
  if (std::atomic_ref(const_cast<std::uint32_t&>(*lease.asleep)).load(std::memory_order_relaxed) %
          2 ==
      1) [[unlikely]]
    peer.send_path->box->wake_reader();
  return true;
}

Accept Sender::send(PortState& port, const SendRequest& request, Operation* operation) noexcept {
  Peer& peer = *request.to.peer;
  if ((peer.tx.lease.left != 0 || boxes_.renewable(peer)) && fits_box(port.id, request) &&
      put_into_box(port, request)) {
    if (operation != nullptr)
      operation->done(*operation, {.tag = request.tag, .bytes = total_bytes(request.slices)});
    return Accept::kAccepted;
  }
  return send_by_endpoint(port, request, operation);
}

}  // namespace livebtl::core
