// SPDX-License-Identifier: BSD-3-Clause
// core/lane/rendezvous_end.cc -- transfers that end before their time: lost peers, closed ports, regions
// that are deregistered. Under the engine's lock.
#include <algorithm>

#include "core/lane/receive.h"
#include "core/lane/rendezvous.h"
#include "core/lane/send.h"

namespace livebtl::core {

// The peer's engine answers a put, whatever its program does; and the peer does not know of what
// still waits in a queue here.
bool Transfers::is_untaken(const OutTransfer& out) noexcept {
  if (out.operation == nullptr || out.one_sided || out.finished || out.asked_for()) return false;
  return !state_of<SendState>(*out.operation).frame.queued;
}

void Transfers::fail_all(Peer& peer) noexcept {
  out_.for_each([&](std::uint64_t name, OutTransfer& out) {
    if (out.peer != &peer) return;
    out.finished = true;
    out.code = Errc::kPeerLost;
    complete_out_if_done(name);
  });
  in_.for_each([&](std::uint64_t handle, InTransfer& in) {
    if (in.peer == &peer) drop_in(handle, in, Errc::kPeerLost);
  });
}

namespace {

/// Makes what is in flight on these paths of the peer stop referring to users' memory. Others are
/// left alone: it may cost a path that a device is working on (Endpoint::let_go).
template <class Concerned>
void let_go(Peer& peer, Concerned concerned) noexcept {
  for (auto& path : peer.paths) {
    // A path that is down but not yet cleared away may still refer to it.
    if (path->endpoint && concerned(*path)) path->endpoint->let_go();
  }
}

}  // namespace

// in: the bytes are wanted back now. out: nothing refers to them; the receiver is told, once we
// know its name for the transfer.
void Transfers::give_up(std::uint64_t name, OutTransfer& out, Errc code) noexcept {
  if (out.given_up) return;
  if (out.posted != 0) {
    let_go(*out.peer, [name](Path& path) {
      const auto its = std::count(path.posted.begin(), path.posted.end(), name);
      if (!path.keeps) path.given_up_posted += static_cast<std::uint32_t>(its);
      return its != 0;
    });
  }
  std::erase(out.peer->sending, name);
  out.given_up = true;
  if (!out.finished) out.code = code;
  if (!out.finished && out.asked_for()) tell_given_up(out);
  const OutTransfer ended = out;
  out.operation = nullptr;
  complete_out_if_done(name);
  if (ended.operation != nullptr) complete_out(ended);
}

void Transfers::withdraw_offer(std::uint64_t name) noexcept {
  OutTransfer* out = out_.find(name);
  LIVEBTL_ASSERT(out != nullptr, "an offer that is queued has its transfer");
  out->finished = true;
  out->code = Errc::kCancelled;
}

void Transfers::tell_given_up(OutTransfer& out) noexcept {
  out.finished = true;
  if (out.region) out.peer->rx.end_request();
  sender_.queue_control(*out.peer, FrameKind::kFin, kFlagGivenUp, 0, 0,
                        FinBody{out.handle, static_cast<std::uint32_t>(out.code), 0});
}

void Transfers::on_given_up(Peer& peer, const FinBody& fin) noexcept {
  InTransfer* in = in_.find(fin.operation);
  if (in == nullptr || in->peer != &peer) return;  // all had arrived
  const auto code = static_cast<Errc>(fin.code);
  if (in->purpose == InTransfer::Purpose::kPut) peer.rx.end_request();
  if (in->purpose == InTransfer::Purpose::kReceive) {
    if (in->credit_returned)
      --peer.rx.early_answers;
    else
      receiver_.give_back(peer, 0, 1);
  }
  drop_in(fin.operation, *in, code == Errc::kOk ? Errc::kCorrupt : code);
}

// in: a transfer that ends unfinished. out: its memory is the user's again, and its operation done.
void Transfers::drop_in(std::uint64_t handle, InTransfer& in, Errc code) noexcept {
  InTransfer dropped = std::move(in);
  --dropped.peer->transfers_open;
  in_.release(handle);
  let_go(*dropped.peer, [handle](const Path& path) { return path.placing == handle; });
  dropped.completion.code = code;
  dropped.completion.bytes = dropped.arrived.prefix();
  if (dropped.purpose != InTransfer::Purpose::kPut) finish(dropped);
}

template <class Concerned>
void Transfers::cancel(Concerned concerned, Errc code) noexcept {
  out_.for_each([&](std::uint64_t name, OutTransfer& out) {
    if (concerned(out)) give_up(name, out, code);
  });
  in_.for_each([&](std::uint64_t handle, InTransfer& in) {
    if (!concerned(in)) return;
    tell_end(*in.peer, in.transfer, code, in.end_role());
    drop_in(handle, in, code);
  });
}

void Transfers::cancel_port(PortState& port) noexcept {
  cancel([&](const auto& transfer) { return transfer.port == &port; }, Errc::kCancelled);
}

void Transfers::cancel_region(const RegionName& region) noexcept {
  cancel([&](const auto& transfer) { return transfer.region == region; }, Errc::kBadKey);
}

}  // namespace livebtl::core
