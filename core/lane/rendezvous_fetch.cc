// SPDX-License-Identifier: BSD-3-Clause
// core/lane/rendezvous_fetch.cc -- large messages, puts and gets at the end that gets the bytes:
// asks for what is offered, puts it where it belongs, and reports when all is there. See
// rendezvous.h.
#include <set>
#include <utility>

#include "core/engine/context.h"
#include "core/lane/onesided.h"
#include "core/lane/path_events.h"
#include "core/lane/pieces.h"
#include "core/lane/port_state.h"
#include "core/lane/receive.h"
#include "core/lane/receive_end.h"
#include "core/lane/rendezvous.h"
#include "core/lane/send.h"
#include "core/lane/unplaced.h"

namespace livebtl::core {

namespace {

/// Per transfer. Each of several paths may be ahead of the others by a megabyte or so, in pieces of
/// 16 KiB.
constexpr std::size_t kIslandsMax = 4096;

CtsBody request_for(const InTransfer& in, std::uint64_t handle) noexcept {
  return {in.transfer, in.arrived.prefix(), in.wanted, handle, in.attempt, 0};
}

}  // namespace

void scatter(std::span<const MutableSlice> slices, std::uint64_t offset, Bytes bytes) noexcept {
  while (!bytes.empty()) {
    const MutableSlice piece = piece_at(slices, offset, bytes.size());
    LIVEBTL_ASSERT(piece.bytes != 0, "scattered bytes must fit");
    std::memcpy(piece.data, bytes.data(), piece.bytes);
    offset += piece.bytes;
    bytes = bytes.subspan(piece.bytes);
  }
}

void Transfers::fetch(Peer& peer, InTransfer in, std::uint64_t wanted) {
  in.peer = &peer;
  if (peer.failed) {  // its offer was kept, but the bytes are gone with it
    in.completion.code = Errc::kPeerLost;
    in.completion.bytes = 0;
    return finish(in);
  }
  if (wanted == 0) {
    tell_end(peer, in.transfer, Errc::kOk, in.end_role());
    return finish(in);
  }
  std::uint64_t handle = 0;
  InTransfer& mine = in_.acquire(handle);
  mine = std::move(in);
  mine.wanted = wanted;
  ++peer.transfers_open;
  ask(mine, handle, mine.ahead && peer.rx.ahead.begin(mine.transfer, handle) ? kFlagAhead : 0);
}

void Transfers::tell_end(Peer& peer, std::uint64_t transfer, Errc code, Role role,
                         std::uint8_t flags) {
  sender_.queue_control(peer, FrameKind::kFin, flags, 0, 0,
                        FinBody{transfer, static_cast<std::uint32_t>(code), 0}, {}, role);
}

void Transfers::ask(InTransfer& in, std::uint64_t handle, std::uint8_t flags) noexcept {
  sender_.queue_control(*in.peer, FrameKind::kCts, flags, 0, 0, request_for(in, handle));
}

// in: data under either name. out: under our handle. null: no transfer of that peer's (any more).
InTransfer* Transfers::target_of(Peer& peer, const FrameHead& head, DataBody& data) noexcept {
  if ((head.flags & kFlagAhead) != 0) data.handle = peer.rx.ahead.handle_of(data.handle);
  InTransfer* in = in_.find(data.handle);
  return in != nullptr && in->peer == &peer ? in : nullptr;
}

MutableBytes Transfers::place(Path& path, const FrameHead& head, DataBody data,
                              std::size_t payload_bytes, bool to_be_checked) noexcept {
  InTransfer* in = target_of(*path.peer, head, data);
  if (in == nullptr) return {};
  // A put goes into memory that others may read meanwhile: not before its checksum is verified.
  if (in->purpose == InTransfer::Purpose::kPut && to_be_checked) return {};
  if (data.offset > in->wanted || payload_bytes > in->wanted - data.offset) return {};
  if (in->arrived.touches(data.offset, payload_bytes)) return {};
  if (being_placed(*path.peer, data, payload_bytes)) return {};
  const MutableSlice piece = piece_at(std::span<const MutableSlice>{in->slices, in->slice_count},
                                      data.offset, payload_bytes);
  if (piece.bytes < payload_bytes) return {};
  path.placing = data.handle;
  path.placing_begin = data.offset;
  path.placing_end = data.offset + payload_bytes;
  path.placing_since = begin_copy(path, CopyWork::Part::kRead, in->wanted, payload_bytes);
  return {static_cast<std::byte*>(piece.data), piece.bytes};
}

bool Transfers::being_placed(const Peer& peer, const DataBody& data,
                             std::uint64_t bytes) const noexcept {
  return std::any_of(peer.paths.begin(), peer.paths.end(), [&](const auto& path) {
    return path->placing == data.handle && path->placing_begin < data.offset + bytes &&
           data.offset < path->placing_end;
  });
}

void Transfers::on_data(Path& path, const FrameHead& head, DataBody data, Bytes payload) noexcept {
  path.placing = 0;
  const TimeNs placing_since = std::exchange(path.placing_since, 0);
  Peer& peer = *path.peer;
  const std::uint64_t name = data.handle;
  InTransfer* in = target_of(peer, head, data);
  if (in == nullptr) {  // late (its transfer is complete) or early
    if ((head.flags & kFlagAhead) != 0) peer.rx.ahead.drop(name);
    return;
  }
  if (data.offset > in->wanted || payload.size() > in->wanted - data.offset) return;
  const MutableSlice piece = piece_at(std::span<const MutableSlice>{in->slices, in->slice_count},
                                      data.offset, payload.size());
  peer.placed_bytes_in += payload.size();
  if (piece.data == payload.data()) {
    in->arrived.add(data.offset, payload.size());
    end_copy(path, CopyWork::Part::kRead, in->wanted, payload.size(), placing_since);
  } else {
    take(*in, path, data, payload);
  }
  if (in->arrived.covered() == in->wanted) return complete_in(data.handle);
  if (in->arrived.islands() > kIslandsMax) [[unlikely]]
    events_.on_breach(peer, "it sends data with more gaps than several paths make");
}

// Another path may be reading some of the same bytes into place, and may yet fail and leave
// rubbish: those do not count. If it fails, its loss makes us ask for them again. The other bytes
// may never come again, so they are taken.
void Transfers::take(InTransfer& in, Path& path, const DataBody& data, Bytes payload) noexcept {
  const bool by_ring =
      payload.size() <= path.slot.caps.piece_bytes_max;  // else read, but not into place
  const TimeNs begun =
      by_ring ? begin_copy(path, CopyWork::Part::kOut, in.wanted, payload.size()) : 0;
  const std::span<const MutableSlice> slices{in.slices, in.slice_count};
  const std::uint64_t end = data.offset + payload.size();
  for (std::uint64_t at = data.offset; at < end;) {
    const Stretch its = first_unplaced(path.peer->paths, data.handle, {at, end});
    if (its.begin == its.end) return;
    const std::size_t bytes = its.end - its.begin;
    scatter(slices, its.begin, payload.subspan(its.begin - data.offset, bytes));
    in.arrived.add(its.begin, bytes);
    at = its.end;
  }
  if (by_ring) end_copy(path, CopyWork::Part::kOut, in.wanted, payload.size(), begun);
}

void Transfers::complete_in(std::uint64_t handle, std::uint8_t fin_flags) noexcept {
  const InTransfer in = std::move(*in_.find(handle));
  --in.peer->transfers_open;
  in_.release(handle);
  tell_end(*in.peer, in.transfer, Errc::kOk, in.end_role(), fin_flags);
  finish(in);
}

// in: a transfer that has ended and left the table. out: its operation is complete.
void Transfers::finish(const InTransfer& in) noexcept {
  switch (in.purpose) {
    case InTransfer::Purpose::kReceive:
      end_message(*in.operation, in.completion);
      break;
    case InTransfer::Purpose::kGet:
      sender_.request_ended(*in.peer);
      onesided_.complete(*in.operation, in.completion);
      break;
    case InTransfer::Purpose::kPut:
      if (in.port != nullptr) in.port->tell_remote_access(in.access);
      break;
  }
}

// A request that still waits is updated: a peer that breaks paths and takes nothing must not fill
// our memory.
void Transfers::ask_again(Peer& peer) noexcept {
  in_.for_each([&](std::uint64_t, InTransfer& in) {
    if (in.peer == &peer) ++in.attempt;
  });
  std::set<std::uint64_t> waiting;
  for (OutFrame* frame = peer.tx.control.first; frame != nullptr; frame = frame->next) {
    if (frame->head().kind != FrameKind::kCts) continue;
    const auto cts = decode_body<CtsBody>({frame->header, frame->header_bytes});
    const InTransfer* in = in_.find(cts.handle);
    if (in == nullptr || in->peer != &peer) continue;
    FrameHead head = frame->head();
    head.flags &= static_cast<std::uint8_t>(~kFlagAhead);
    frame->set_header(Header<CtsBody>{head, request_for(*in, cts.handle)});
    waiting.insert(cts.handle);
  }
  in_.for_each([&](std::uint64_t handle, InTransfer& in) {
    if (in.peer == &peer && !waiting.contains(handle)) ask(in, handle, 0);
  });
}

}  // namespace livebtl::core
