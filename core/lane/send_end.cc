// SPDX-License-Identifier: BSD-3-Clause
// core/lane/send_end.cc -- queued frames that end before their time: closed ports, lost peers. Under the
// engine's lock.
#include "core/lane/path_events.h"
#include "core/lane/port_state.h"
#include "core/lane/rendezvous.h"
#include "core/lane/send.h"

namespace livebtl::core {

void end_operation(Operation& operation, const Completion& completion) noexcept {
  --state_of<SendState>(operation).port->open_operations;
  operation.done(operation, completion);
}

bool Sender::was_posted(Peer& peer, Operation* operation) noexcept {
  if (operation == nullptr || !state_of<SendState>(*operation).frame.queued) [[likely]]
    return true;
  events_.on_breach(peer, "it answers what it was not yet asked");
  return false;
}

void Sender::request_ended(Peer& peer) noexcept {
  if (peer.tx.open_requests != 0) --peer.tx.open_requests;
  if (!peer.tx.requests.empty()) mark_dirty(peer);
}

// Ends what that port has queued for the peer, or (null) all that is queued. Puts, gets and atomics
// are ended by the parts that keep them: transfers, one-sided.
void Sender::end_queued(Peer& peer, const PortState* port, Errc code) noexcept {
  const auto stays = [port](Operation& operation) {
    return port != nullptr && state_of<SendState>(operation).port != port;
  };
  for (FrameQueue* queue : {&peer.tx.control, &peer.tx.requests, &peer.tx.messages}) {
    FrameQueue kept;
    while (OutFrame* frame = queue->pop()) {
      const FrameKind kind = frame->head().kind;
      if (frame->pooled ? port != nullptr : stays(*frame->operation)) {
        kept.push(*frame);
      } else if (frame->pooled) {
        recycle(static_cast<PooledFrame&>(*frame));
      } else if (kind == FrameKind::kEager || kind == FrameKind::kActive) {
        end_operation(*frame->operation, {.code = code});
      } else if (kind == FrameKind::kRts) {
        transfers_.withdraw_offer(
            decode_body<RtsBody>({frame->header, frame->header_bytes}).transfer);
      }
    }
    *queue = kept;
  }
  std::erase_if(peer.awaiting_done, [&](const auto& entry) {
    if (stays(*entry.second)) return false;
    end_operation(*entry.second, {.code = code});
    return true;
  });
}

void Sender::cancel_port(PortState& port, Peer& peer) noexcept {
  end_queued(peer, &port, Errc::kCancelled);
}

void Sender::fail_all(Peer& peer) noexcept {
  end_queued(peer, nullptr, Errc::kPeerLost);
  peer.queued_injects = 0;
}

}  // namespace livebtl::core
