// SPDX-License-Identifier: BSD-3-Clause
// core/lane/receive_parts.h -- what the files of the Receiver share: the envelope that a frame's header
// makes, and a place in the buffer of a multi-receive.
//
// Pure. Threads: under the engine's lock.
#pragma once

#include "core/lane/frame.h"
#include "core/lane/match.h"

namespace livebtl::core {

/// length: of the payload, or of what is offered.
inline Envelope envelope_of(Peer& peer, const FrameHead& head, Tag tag, std::uint64_t data,
                            std::uint64_t length) noexcept {
  Envelope envelope;
  envelope.kind = (head.flags & kFlagTagged) != 0 ? MessageKind::kTagged : MessageKind::kPlain;
  envelope.has_data = (head.flags & kFlagHasData) != 0;
  envelope.want_done = (head.flags & kFlagWantDone) != 0;
  envelope.tag = tag;
  envelope.data = data;
  envelope.length = length;
  envelope.transfer = head.seq;  // an eager message that wants DONE is named by its number
  envelope.source = {&peer, head.source_port};
  return envelope;
}

/// Of an offer.
inline Envelope envelope_of(Peer& peer, const FrameHead& head, const RtsBody& body) noexcept {
  Envelope envelope = envelope_of(peer, head, body.tag, body.data, body.length);
  envelope.rendezvous = true;
  envelope.ahead = (head.flags & kFlagAhead) != 0;
  envelope.transfer = body.transfer;
  return envelope;
}

/// Takes `bytes` from a multi-receive's buffer, for one message.
inline MutableSlice take_multi(ReceiveState& state, std::size_t bytes) noexcept {
  auto* place = static_cast<std::byte*>(state.slices[0].data) + state.multi_used;
  state.multi_used += bytes;
  state.capacity -= bytes;
  ++state.multi_open;
  return {place, bytes};
}

}  // namespace livebtl::core
