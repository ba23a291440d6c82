// SPDX-License-Identifier: BSD-3-Clause
// core/lane/send_credit.cc -- what becomes of a waiting message: it goes, is offered instead, or
// finds no credit. Under the engine's lock.
#include <cstring>
#include <utility>

#include "core/lane/port_state.h"
#include "core/lane/rendezvous.h"
#include "core/lane/send.h"

namespace livebtl::core {

// A message too large for eager, or without credit for its bytes, becomes an offer just before it
// is posted: whether it does depends on path and credit at that moment.
void Sender::offer_instead(Peer& peer, const Path& path, OutFrame& frame) noexcept {
  SendState& state = state_of<SendState>(*frame.operation);
  std::uint64_t name = 0;
  transfers_.offer(peer, state.port, frame.operation, {frame.slices, frame.slice_count},
                   state.bytes, name);
  Header<MessageBody> message;
  std::memcpy(&message, frame.header, sizeof(message));
  Header<RtsBody> rts{message.head, {message.body.tag, message.body.data, state.bytes, name}};
  rts.head.kind = FrameKind::kRts;
  const bool large = state.bytes > path.slot.caps.eager_bytes_max;
  const bool exposable = large && transfers_.may_expose(peer, path, name);
  frame.exposes = exposable && peer.exposes_offers.tries();
  if (large && !exposable && transfers_.goes_ahead(peer, path, name)) rts.head.flags |= kFlagAhead;
  frame.set_header(rts);
  frame.payload_bytes = 0;
  frame.slice_count = 0;
  state.completes_when_posted = false;
}

// in: a message frame at the head of its queue. out: false: it must wait for credit.
bool Sender::spend_credit(Peer& peer, Path& path, OutFrame& frame) noexcept {
  TxLane& tx = peer.tx;
  const TxLane::Admission admission = tx.admit(frame, path.slot.caps.eager_bytes_max);
  if (admission == TxLane::Admission::kGo) return true;
  if (admission == TxLane::Admission::kWait) {
    ask_for_credit(peer, path);  // else a little goes unannounced
    return false;
  }
  if (tx.short_since == 0 && !tx.has_credit(frame.payload_bytes)) tx.short_since = tx.next_seq;
  if (admission == TxLane::Admission::kAskFirst) {
    ask_for_credit(peer, path);
    return false;
  }
  offer_instead(peer, path, frame);
  return true;
}

// Once, and again if that path was lost: the answer to a probe carries the credit of that moment,
// and the peer announces later credit at once.
void Sender::ask_for_credit(Peer& peer, Path& path) noexcept {
  if (std::exchange(peer.tx.asked_on, path.id) == path.id) return;
  path.probe_due = true;
  mark_dirty(peer);
}

}  // namespace livebtl::core
