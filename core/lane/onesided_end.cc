// SPDX-License-Identifier: BSD-3-Clause
// core/lane/onesided_end.cc -- how one-sided operations end: by the peer's answer, or before it (see onesided.h).
#include "core/lane/onesided.h"
#include "core/lane/path_events.h"
#include "core/lane/port_state.h"
#include "core/lane/rendezvous.h"
#include "core/lane/send.h"

namespace livebtl::core {

void OneSided::on_answer(Peer& peer, const FinBody& body, Bytes payload) noexcept {
  sender_.request_ended(peer);
  Pending* pending = pending_.find(body.operation);
  if (pending == nullptr || pending->peer != &peer) return;
  if (!sender_.was_posted(peer, pending->operation)) return;
  const Pending done = *pending;
  pending_.release(body.operation);
  Completion completion{.code = static_cast<Errc>(body.code), .bytes = done.bytes};
  if (completion.code == Errc::kOk && done.slice_count != 0) {
    if (payload.size() == done.bytes) {
      scatter({done.slices, done.slice_count}, 0, payload);
    } else {
      completion.code =
          Errc::kCorrupt;  // a peer that answers with another length cannot be believed
    }
  }
  complete(*done.operation, completion);
}

void OneSided::on_get_offer(Peer& peer, const RtsBody& body) noexcept {
  if (peer.tx.open_requests == 0) return events_.on_breach(peer, "it offers what nobody asked for");
  Pending* pending = pending_.find(body.tag);
  if (pending == nullptr || pending->peer != &peer || pending->bytes != body.length) {
    transfers_.tell_end(peer, body.transfer, Errc::kCancelled, Role::kPlain);
    return sender_.request_ended(peer);
  }
  if (!sender_.was_posted(peer, pending->operation)) return;
  if (pending->slice_count == 0 && pending->bytes != 0)
    return events_.on_breach(peer, "it offers data for an operation that fetches none");
  InTransfer in;
  in.purpose = InTransfer::Purpose::kGet;
  in.operation = pending->operation;
  in.port = state_of<SendState>(*pending->operation).port;
  in.completion = {.bytes = pending->bytes};
  in.slice_count = pending->slice_count;
  std::copy(pending->slices, pending->slices + pending->slice_count, in.slices);
  in.transfer = body.transfer;
  const std::uint64_t wanted = pending->bytes;
  pending_.release(body.tag);
  transfers_.fetch(peer, std::move(in), wanted);
}

void OneSided::check_flushes(PortState& port) noexcept {
  for (std::size_t i = 0; i < port.flush_waits.size();) {
    const PortState::FlushWait wait = port.flush_waits[i];
    bool open_ones = false;
    for (Operation* each = port.one_sided_first; each != nullptr && !open_ones;) {
      const SendState& state = state_of<SendState>(*each);
      if (state.number > wait.number) break;
      open_ones = wait.peer == nullptr || wait.peer == state.peer;
      each = state.next;
    }
    if (open_ones) {
      ++i;
      continue;
    }
    port.flush_waits.erase(port.flush_waits.begin() + static_cast<std::ptrdiff_t>(i));
    --port.open_operations;
    wait.operation->done(*wait.operation, {});
  }
}

void OneSided::complete(Operation& operation, const Completion& completion) noexcept {
  SendState& state = state_of<SendState>(operation);
  PortState& port = *state.port;
  (state.previous != nullptr ? state_of<SendState>(*state.previous).next : port.one_sided_first) =
      state.next;
  (state.next != nullptr ? state_of<SendState>(*state.next).previous : port.one_sided_last) =
      state.previous;
  --port.open_operations;
  operation.done(operation, completion);
  if (!port.flush_waits.empty()) check_flushes(port);
}

template <class Concerned>
void OneSided::end_pending(Concerned concerned, Errc code) noexcept {
  pending_.for_each([&](std::uint64_t name, const Pending& pending) {
    Operation& operation = *pending.operation;
    if (!concerned(state_of<SendState>(operation))) return;
    pending_.release(name);
    complete(operation, {.code = code});
  });
}

void OneSided::fail_all(Peer& peer) noexcept {
  end_pending([&](const SendState& state) { return state.peer == &peer; }, Errc::kPeerLost);
}

void OneSided::cancel_port(PortState& port) noexcept {
  end_pending([&](const SendState& state) { return state.port == &port; }, Errc::kCancelled);
}

}  // namespace livebtl::core
