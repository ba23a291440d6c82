// SPDX-License-Identifier: BSD-3-Clause
// core/lane/receive_answers.cc -- what matches no receive: messages that nobody waits for yet, active messages, answers
// and credit (see receive.h).
#include <cstring>
#include <memory>
#include <utility>

#include "core/engine/context.h"
#include "core/lane/onesided.h"
#include "core/lane/port_state.h"
#include "core/lane/receive.h"
#include "core/lane/send.h"

namespace livebtl::core {

// A program may send any number of messages before the one that the receiver waits for. So credit
// goes back as long as there is memory: for payload up to half of it, since a message without byte
// credit is offered, and an offer takes none. Not to a peer that does not read its answers: these
// would take memory without end.
void Receiver::return_credit_early(Unexpected& message) noexcept {
  unexpected_bytes_ += message.memory_bytes();
  return_credit(message);
  if (message.header_returned) return;
  message.envelope.source.peer->rx.keeps_credit = true;
  keeps_credit_ = true;
}

void Receiver::return_credit(Unexpected& message) noexcept {
  const Settings& settings = context_.config.settings;
  Peer& peer = *message.envelope.source.peer;
  if (message.wants_answer() && peer.rx.early_answers >= settings.credit_headers) return;
  message.header_returned = unexpected_bytes_ <= settings.unexpected_bytes;
  message.bytes_returned = unexpected_bytes_ <= settings.unexpected_bytes / 2;
  if (message.header_returned)
    give_back(peer, message.bytes_returned ? message.payload_bytes() : 0, 1);
}

// Half, so that walking through all that is stored pays off. What a port's user has set aside keeps
// its credit until it is received.
void Receiver::give_back_kept(Peer& peer) noexcept {
  const Settings& settings = context_.config.settings;
  const bool in_the_way = unexpected_bytes_ > settings.unexpected_bytes / 2 ||
                          peer.rx.early_answers > settings.credit_headers / 2;
  if (!peer.rx.keeps_credit || in_the_way) return;
  peer.rx.keeps_credit = false;
  ports_.for_each_unexpected([&](Unexpected& message) {
    if (message.envelope.source.peer == &peer && !message.header_returned) return_credit(message);
  });
}

void Receiver::keep_unexpected(PortState& port, const Envelope& envelope, Bytes payload) noexcept {
  if (!envelope.rendezvous && !hold(*envelope.source.peer, payload.size())) return;
  auto message = std::make_unique<Unexpected>();
  message->envelope = envelope;
  if (!payload.empty()) {
    message->payload = std::make_unique_for_overwrite<std::byte[]>(payload.size());
    std::memcpy(message->payload.get(), payload.data(), payload.size());
  }
  return_credit_early(*message);
  port.matcher.add_unexpected(std::move(message));
}

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

// kDone answers a message that wanted it (named by its number) or a one-sided operation; a flag
// tells which.
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
