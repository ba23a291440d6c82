// SPDX-License-Identifier: BSD-3-Clause
// core/lane/onesided.cc -- see onesided.h: the side that asks. The other side: onesided_target.cc.
#include "core/lane/onesided.h"

#include "core/engine/context.h"
#include "core/lane/atomics.h"
#include "core/lane/path_events.h"
#include "core/lane/port_state.h"
#include "core/lane/rendezvous.h"
#include "core/lane/send.h"

namespace livebtl::core {

bool OneSided::is_full(const PortState& port) const noexcept {
  return port.is_full(context_.config.settings.operations_max);
}

bool OneSided::admit(PortState& port, Peer& peer, Accept& answer) const noexcept {
  answer = peer.lost ? Accept::kPeerLost : is_full(port) ? Accept::kBusy : Accept::kAccepted;
  return answer == Accept::kAccepted;
}

// in: an admitted operation. out: it is last in the port's order.
void OneSided::open(PortState& port, Operation& operation, Peer& peer, std::size_t bytes) noexcept {
  SendState& state = start_state<SendState>(operation);
  state.port = &port;
  state.peer = &peer;
  state.bytes = bytes;
  state.number = ++port.one_sided_number;
  state.frame.operation = &operation;
  state.frame.role = Role::kRequest;
  state.previous = port.one_sided_last;
  (port.one_sided_last != nullptr ? state_of<SendState>(*port.one_sided_last).next
                                  : port.one_sided_first) = &operation;
  port.one_sided_last = &operation;
  ++port.open_operations;
  ++peer.tx.messages_sent;
}

std::uint64_t OneSided::remember(Operation& operation, Peer& peer,
                                 std::span<const MutableSlice> slices, std::uint64_t bytes) {
  std::uint64_t name = 0;
  Pending& pending = pending_.acquire(name);
  pending.operation = &operation;
  pending.peer = &peer;
  pending.bytes = bytes;
  pending.slice_count = static_cast<std::uint8_t>(slices.size());
  std::copy(slices.begin(), slices.end(), pending.slices);
  return name;
}

Accept OneSided::put(PortState& port, const PutRequest& request, Operation& operation) noexcept {
  Peer& peer = *request.to.peer;
  const Remote& remote = request.remote;
  Accept answer{};
  const std::size_t bytes = total_bytes(request.slices);
  // The eight bytes of remote data travel in front of the payload, in a slice of their own.
  const std::size_t extra = request.data.has_value() ? 1 : 0;
  if (request.slices.size() > kSlicesMax) return Accept::kInvalid;
  if (!admit(port, peer, answer)) return answer;
  open(port, operation, peer, bytes);
  SendState& state = state_of<SendState>(operation);
  OutFrame& frame = state.frame;
  if (extra != 0) {
    state.remote_data = *request.data;
    frame.slices[0] = {&state.remote_data, sizeof(state.remote_data)};
    frame.slice_count = 1;
    frame.payload_bytes = sizeof(state.remote_data);
  }
  FrameHead head{FrameKind::kPut, 0, 0, request.to.port, port.id, 0, 0};
  if (extra != 0) head.flags = kFlagHasData;
  if (bytes <= kPutEagerBytesMax) {
    const std::uint64_t name = remember(operation, peer, {}, bytes);
    frame.set_header(Header<RemoteBody>{head, {remote.key, remote.address, bytes, name}});
    std::copy(request.slices.begin(), request.slices.end(), frame.slices + extra);
    frame.slice_count = static_cast<std::uint8_t>(request.slices.size() + extra);
    frame.payload_bytes += bytes;
  } else {
    std::uint64_t name = 0;
    transfers_.offer(peer, &port, &operation, request.slices, bytes, name).one_sided = true;
    head.kind = FrameKind::kRts;
    head.flags |= kFlagPut;
    frame.set_header(Header<RtsBody>{head, {remote.key, remote.address, bytes, name}});
  }
  sender_.queue(peer, frame);
  return Accept::kAccepted;
}

Accept OneSided::get(PortState& port, const GetRequest& request, Operation& operation) noexcept {
  Peer& peer = *request.to.peer;
  Accept answer{};
  if (request.slices.size() > kSlicesMax) return Accept::kInvalid;
  if (!admit(port, peer, answer)) return answer;
  const std::size_t bytes = total_bytes(request.slices);
  open(port, operation, peer, bytes);
  const std::uint64_t name = remember(operation, peer, request.slices, bytes);
  OutFrame& frame = state_of<SendState>(operation).frame;
  frame.set_header(Header<RemoteBody>{{FrameKind::kGet, 0, 0, request.to.port, port.id, 0, 0},
                                      {request.remote.key, request.remote.address, bytes, name}});
  sender_.queue(peer, frame);
  return Accept::kAccepted;
}

namespace {

bool makes_sense(const AtomicRequest& request) noexcept {
  return atomic_supported(request.op, request.scalar) && request.count != 0 &&
         request.count <= kAtomicBytesMax / scalar_bytes(request.scalar) &&
         (request.op == AtomicOp::kRead || request.operand != nullptr) &&
         (!needs_compare(request.op) || request.compare != nullptr);
}

/// Copies what the operation needs at the target, back to back. Returns the size.
std::size_t take_operands(const AtomicRequest& request, std::size_t bytes, std::byte* to) noexcept {
  if (request.op == AtomicOp::kRead) return 0;
  std::memcpy(to, request.operand, bytes);
  if (!needs_compare(request.op)) return bytes;
  std::memcpy(to + bytes, request.compare, bytes);
  return 2 * bytes;
}

}  // namespace

Accept OneSided::atomic(PortState& port, const AtomicRequest& request,
                        Operation& operation) noexcept {
  Peer& peer = *request.to.peer;
  Accept answer{};
  if (!makes_sense(request)) return Accept::kInvalid;
  if (!admit(port, peer, answer)) return answer;
  const std::size_t bytes = request.count * scalar_bytes(request.scalar);
  open(port, operation, peer, bytes);
  const bool fetch = request.fetched != nullptr;
  const MutableSlice into{request.fetched, bytes};
  const std::uint64_t name = remember(operation, peer, {&into, fetch ? 1U : 0U}, bytes);
  std::byte operands[2 * kAtomicBytesMax];
  const std::size_t operand_bytes = take_operands(request, bytes, operands);
  sender_.queue_control(
      peer, FrameKind::kAtomic, 0, request.to.port, port.id,
      AtomicBody{request.remote.key, request.remote.address, name,
                 static_cast<std::uint32_t>(request.count), static_cast<std::uint8_t>(request.op),
                 static_cast<std::uint8_t>(request.scalar),
                 static_cast<std::uint8_t>(fetch ? 1 : 0), 0},
      {operands, operand_bytes}, Role::kRequest);
  return Accept::kAccepted;
}

Accept OneSided::flush(PortState& port, Peer* peer, Operation& operation) noexcept {
  if (is_full(port)) return Accept::kBusy;
  ++port.open_operations;
  port.flush_waits.push_back({&operation, peer, port.one_sided_number});
  check_flushes(port);
  return Accept::kAccepted;
}

Status OneSided::deregister(std::uint32_t space, std::uint64_t key) noexcept {
  Status removed = regions.remove(space, key);
  if (removed) transfers_.cancel_region({space, key});
  return removed;
}

}  // namespace livebtl::core
