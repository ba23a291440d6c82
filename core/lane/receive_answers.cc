// SPDX-License-Identifier: BSD-3-Clause
// core/lane/receive_answers.cc -- frames that match no receive: active messages, answers and credit
// (see receive.h).
#include "core/lane/onesided.h"
#include "core/lane/port_state.h"
#include "core/lane/receive.h"
#include "core/lane/send.h"

namespace livebtl::core {

void Receiver::on_active(Peer& peer, const FrameHead& head, const MessageBody& body,
                         Bytes payload) noexcept {
  PortState* port = ports_.find(head.target_port);
  const auto handler = static_cast<std::uint8_t>(body.data);
  if (port == nullptr || body.data > 255) return release_credit(peer, payload.size());
  if (!hold(peer, payload.size())) return;
  ++peer.rx.messages_received;
  PortState::PendingActive pending;
  pending.peer = &peer;
  pending.message = {{&peer, head.source_port}, handler, body.tag, {}};
  pending.payload.assign(payload.begin(), payload.end());
  ports_.add_active(*port, std::move(pending));
}

// kDone answers both a message that wanted it (named by its number) and a one-sided operation; a
// flag tells.
void Receiver::on_answer(Peer& peer, const FrameHead& head, const FinBody& body,
                         Bytes payload) noexcept {
  if ((head.flags & kFlagWantDone) == 0) return onesided_.on_answer(peer, body, payload);
  const auto found = peer.awaiting_done.find(body.operation);
  if (found == peer.awaiting_done.end()) return;
  Operation& operation = *found->second;
  peer.awaiting_done.erase(found);
  end_operation(operation, {.code = static_cast<Errc>(body.code),
                            .bytes = state_of<SendState>(operation).bytes});
}

void Receiver::on_credit(Path& path, const CreditBody& credit) noexcept {
  TxLane& tx = path.peer->tx;
  if (credit.released_bytes > tx.used_bytes || credit.released_headers > tx.used_headers)
    return path.break_down({Errc::kCorrupt, "the peer gave back credit that was never used"});
  tx.on_credit(credit.released_bytes, credit.released_headers);
  if (!tx.idle()) sender_.mark_dirty(*path.peer);
}

}  // namespace livebtl::core
