// SPDX-License-Identifier: BSD-3-Clause
// core/lane/send_end.cc -- queued frames that end before their time: closed ports, lost peers. Under the
// engine's lock.
#include "core/lane/port_state.h"
#include "core/lane/rendezvous.h"
#include "core/lane/send.h"

namespace livebtl::core {

void Sender::cancel_port(PortState& port, Peer& peer) noexcept {
  for (FrameQueue* queue : {&peer.tx.control, &peer.tx.messages}) {
    FrameQueue kept;
    while (OutFrame* frame = queue->pop()) {
      if (frame->pooled || state_of<SendState>(*frame->operation).port != &port) {
        kept.push(*frame);
      } else if (frame->head().kind == FrameKind::kEager ||
                 frame->head().kind == FrameKind::kActive) {
        --port.open_operations;
        frame->operation->done(*frame->operation, {.code = Errc::kCancelled});
      } else if (frame->head().kind == FrameKind::kRts) {
        transfers_.withdraw_offer(
            decode_body<RtsBody>({frame->header, frame->header_bytes}).transfer);
      }  // others are ended by the part that keeps them: transfers, one-sided
    }
    *queue = kept;
  }
  std::erase_if(peer.awaiting_done, [&](const auto& entry) {
    if (state_of<SendState>(*entry.second).port != &port) return false;
    --port.open_operations;
    entry.second->done(*entry.second, {.code = Errc::kCancelled});
    return true;
  });
}

void Sender::fail_all(Peer& peer) noexcept {
  for (FrameQueue* queue : {&peer.tx.control, &peer.tx.messages}) {
    while (OutFrame* frame = queue->pop()) {
      if (frame->pooled) {
        recycle(static_cast<PooledFrame&>(*frame));
      } else if (frame->head().kind == FrameKind::kEager ||
                 frame->head().kind == FrameKind::kActive) {
        SendState& state = state_of<SendState>(*frame->operation);
        --state.port->open_operations;
        frame->operation->done(*frame->operation, {.code = Errc::kPeerLost});
      }
    }
  }
  for (auto& [seq, operation] : peer.awaiting_done) {
    --state_of<SendState>(*operation).port->open_operations;
    operation->done(*operation, {.code = Errc::kPeerLost});
  }
  peer.awaiting_done.clear();
  peer.queued_injects = 0;
}

}  // namespace livebtl::core
