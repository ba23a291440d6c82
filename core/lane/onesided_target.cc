// SPDX-License-Identifier: BSD-3-Clause
// core/lane/onesided_target.cc -- see onesided.h: the side that is asked. Requests are a peer's
// bytes: region, rights and bounds are checked for each before anything is touched.
#include "core/engine/context.h"
#include "core/lane/atomics.h"
#include "core/lane/onesided.h"
#include "core/lane/path_events.h"
#include "core/lane/port_state.h"
#include "core/lane/rendezvous.h"
#include "core/lane/send.h"

namespace livebtl::core {

void OneSided::answer(Peer& peer, FrameKind kind, std::uint64_t operation, Errc code,
                      Bytes payload) {
  sender_.queue_control(peer, kind, 0, 0, 0,
                        FinBody{operation, static_cast<std::uint32_t>(code), 0}, payload,
                        Role::kAnswersRequest);
}

// A request counts until its answer is on its way: a peer that asks and does not read cannot fill
// our memory.
bool OneSided::take_request(Peer& peer) noexcept {
  if (peer.rx.take_request(context_.config.settings)) return true;
  events_.on_breach(peer, "it has more one-sided operations open here than the protocol allows");
  return false;
}

OneSided::Target OneSided::find_target(const FrameHead& head, std::uint64_t key,
                                       std::uint64_t address, std::uint64_t bytes,
                                       Access wanted) noexcept {
  PortState* port = ports_.find(head.target_port);
  if (port == nullptr) return {};
  return {port, regions.check(port->options.space, key, address, bytes, wanted)};
}

void OneSided::on_put(Peer& peer, const FrameHead& head, const RemoteBody& body,
                      Bytes payload) noexcept {
  if (!take_request(peer)) return;
  ByteReader reader(payload);
  RemoteAccess access{{&peer, head.source_port}, Access::kWrite, body.key, body.length, {}};
  if ((head.flags & kFlagHasData) != 0) access.data = reader.take<std::uint64_t>();
  const Bytes bytes = reader.rest();
  if (!reader.ok() || bytes.size() != body.length)
    return answer(peer, FrameKind::kDone, body.operation, Errc::kInvalid);
  const auto [port, target] =
      find_target(head, body.key, body.address, body.length, Access::kWrite);
  if (target == nullptr) return answer(peer, FrameKind::kDone, body.operation, Errc::kBadKey);
  if (!bytes.empty()) std::memcpy(target, bytes.data(), bytes.size());
  answer(peer, FrameKind::kDone, body.operation, Errc::kOk);
  port->tell_remote_access(access);
}

void OneSided::on_put_offer(Peer& peer, const FrameHead& head, const RtsBody& body,
                            Bytes payload) noexcept {
  if (!take_request(peer)) return;
  const auto [port, target] = find_target(head, body.tag, body.data, body.length, Access::kWrite);
  if (target == nullptr)
    return transfers_.tell_end(peer, body.transfer, Errc::kBadKey, Role::kAnswersRequest);
  InTransfer in;
  in.purpose = InTransfer::Purpose::kPut;
  in.port = port;
  in.region = {port->options.space, body.tag};
  in.access = {{&peer, head.source_port}, Access::kWrite, body.tag, body.length, {}};
  if ((head.flags & kFlagHasData) != 0) in.access.data = ByteReader(payload).take<std::uint64_t>();
  in.slices[0] = {target, body.length};
  in.slice_count = 1;
  in.transfer = body.transfer;
  transfers_.fetch(peer, std::move(in), body.length);
}

void OneSided::on_get(Peer& peer, const FrameHead& head, const RemoteBody& body) noexcept {
  if (!take_request(peer)) return;
  const auto [port, source] = find_target(head, body.key, body.address, body.length, Access::kRead);
  if (source == nullptr) return answer(peer, FrameKind::kGetReply, body.operation, Errc::kBadKey);
  if (body.length <= kPutEagerBytesMax) {
    answer(peer, FrameKind::kGetReply, body.operation, Errc::kOk, {source, body.length});
    return port->tell_remote_access(
        {{&peer, head.source_port}, Access::kRead, body.key, body.length, {}});
  }
  std::uint64_t name = 0;
  const Slice slice{source, body.length};
  OutTransfer& out = transfers_.offer(peer, nullptr, nullptr, {&slice, 1}, body.length, name);
  out.region = {port->options.space, body.key};
  out.read_through = head.target_port;
  out.reader = head.source_port;
  sender_.queue_control(peer, FrameKind::kRts, kFlagGet, head.source_port, head.target_port,
                        RtsBody{body.operation, 0, body.length, name});
}

void OneSided::on_atomic(Peer& peer, const FrameHead& head, const AtomicBody& body,
                         Bytes payload) noexcept {
  if (!take_request(peer)) return;
  const auto reply = body.fetch != 0 ? FrameKind::kAtomicReply : FrameKind::kDone;
  if (body.op > static_cast<std::uint8_t>(AtomicOp::kMaskedSwap) ||
      body.scalar > static_cast<std::uint8_t>(Scalar::kF64) || body.count == 0 ||
      body.count > kAtomicBytesMax)
    return answer(peer, reply, body.operation, Errc::kInvalid);
  const auto op = static_cast<AtomicOp>(body.op);
  const auto scalar = static_cast<Scalar>(body.scalar);
  const std::size_t bytes = body.count * scalar_bytes(scalar);
  if (bytes > kAtomicBytesMax || payload.size() % bytes != 0 || payload.size() > 2 * bytes)
    return answer(peer, reply, body.operation, Errc::kInvalid);
  // As libfabric's own providers require.
  const Access wanted = op == AtomicOp::kRead ? Access::kRead
                        : body.fetch != 0     ? Access::kReadWrite
                                              : Access::kWrite;
  const auto [port, target] = find_target(head, body.key, body.address, bytes, wanted);
  if (target == nullptr) return answer(peer, reply, body.operation, Errc::kBadKey);
  std::byte fetched[kAtomicBytesMax];
  const std::byte* operand = payload.size() >= bytes ? payload.data() : nullptr;
  const std::byte* compare = payload.size() == 2 * bytes ? payload.data() + bytes : nullptr;
  const bool done = execute_atomic(op, scalar, body.count, target, operand, compare, fetched);
  answer(peer, reply, body.operation, done ? Errc::kOk : Errc::kInvalid,
         body.fetch != 0 && done ? Bytes{fetched, bytes} : Bytes{});
  if (done) port->tell_remote_access({{&peer, head.source_port}, wanted, body.key, bytes, {}});
}

}  // namespace livebtl::core
