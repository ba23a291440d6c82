// SPDX-License-Identifier: BSD-3-Clause
// core/lane/rendezvous.cc -- see rendezvous.h.
#include "core/lane/rendezvous.h"

#include <algorithm>
#include <set>

#include "core/lane/onesided.h"
#include "core/lane/port_state.h"
#include "core/lane/receive.h"
#include "core/lane/receive_end.h"
#include "core/lane/send.h"

namespace livebtl::core {

namespace {

constexpr double kAheadBytesMax = 1 << 20;  // of placed data, beside a path that is busy

CtsBody request_for(const InTransfer& in, std::uint64_t handle) noexcept {
  return {in.transfer, in.arrived.prefix(), in.wanted, handle, in.attempt, 0};
}

/// The contiguous piece of scattered memory at `offset`, at most bytes_max long.
template <class SliceType>
SliceType piece_at(std::span<const SliceType> slices, std::uint64_t offset,
                   std::size_t bytes_max) noexcept {
  using Pointer =
      std::conditional_t<std::is_same_v<SliceType, Slice>, const std::byte*, std::byte*>;
  for (const SliceType& slice : slices) {
    if (offset < slice.bytes)
      return {static_cast<Pointer>(slice.data) + offset,
              std::min<std::size_t>(slice.bytes - offset, bytes_max)};
    offset -= slice.bytes;
  }
  return {};
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

OutTransfer& Transfers::offer(Peer& peer, PortState* port, Operation* operation,
                              std::span<const Slice> slices, std::uint64_t bytes,
                              std::uint64_t& name) {
  OutTransfer& out = out_.acquire(name);
  out.operation = operation;
  out.port = port;
  out.peer = &peer;
  out.bytes = bytes;
  out.slice_count = static_cast<std::uint8_t>(slices.size());
  std::copy(slices.begin(), slices.end(), out.slices);
  return out;
}

void Transfers::fetch(Peer& peer, InTransfer in, std::uint64_t wanted) {
  in.peer = &peer;
  if (peer.failed) {  // its offer was kept, and the bytes have died with it
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
  ask(mine, handle);
}

void Transfers::request_posted(std::uint64_t name) noexcept {
  OutTransfer* out = out_.find(name);
  LIVEBTL_ASSERT(out != nullptr, "an offer that is queued has its transfer");
  out->counted = true;
}

void Transfers::tell_end(Peer& peer, std::uint64_t transfer, Errc code, Role role) {
  sender_.queue_control(peer, FrameKind::kFin, 0, 0, 0,
                        FinBody{transfer, static_cast<std::uint32_t>(code), 0}, {}, role);
}

void Transfers::ask(InTransfer& in, std::uint64_t handle) noexcept {
  sender_.queue_control(*in.peer, FrameKind::kCts, 0, 0, 0, request_for(in, handle));
}

void Transfers::on_cts(Peer& peer, const CtsBody& cts) noexcept {
  OutTransfer* out = out_.find(cts.transfer);
  // Late or made up: an attempt that was overtaken, or one that asks for more than was offered.
  if (out == nullptr || out->peer != &peer || out->finished || cts.length > out->bytes ||
      cts.offset > cts.length)
    return;
  if (!sender_.was_posted(peer, out->operation)) return;
  if (cts.attempt < out->attempt) return;
  out->handle = cts.handle;
  if (out->given_up) {
    tell_given_up(*out);
    return complete_out_if_done(cts.transfer);
  }
  if (out->wanted == 0 && cts.length != 0) ++peer.transfers_asked;
  out->wanted = cts.length;
  out->attempt = cts.attempt;
  out->next_offset = out->asked_offset = cts.offset;
  if (std::find(peer.sending.begin(), peer.sending.end(), cts.transfer) == peer.sending.end())
    peer.sending.push_back(cts.transfer);
  sender_.mark_dirty(peer);
}

void Transfers::on_fin(Peer& peer, const FrameHead& head, const FinBody& fin) noexcept {
  if ((head.flags & kFlagGivenUp) != 0) return on_given_up(peer, fin);
  OutTransfer* out = out_.find(fin.operation);
  if (out == nullptr || out->peer != &peer || out->finished) return;
  if (!sender_.was_posted(peer, out->operation)) return;
  out->finished = true;
  if (out->region) peer.rx.end_request();
  if (!out->given_up) out->code = static_cast<Errc>(fin.code);
  complete_out_if_done(fin.operation);
}

void Transfers::complete_out_if_done(std::uint64_t name) noexcept {
  OutTransfer* out = out_.find(name);
  if (out == nullptr || !out->finished || out->posted != 0) return;
  std::erase(out->peer->sending, name);
  const OutTransfer done = *out;
  if (done.wanted != 0) --done.peer->transfers_asked;
  out_.release(name);
  if (done.counted) sender_.request_ended(*done.peer);
  if (done.operation != nullptr) return complete_out(done);
  if (done.region && done.code == Errc::kOk) tell_read(done);
}

void Transfers::tell_read(const OutTransfer& done) noexcept {
  PortState* const port = ports_.find(done.read_through);
  // Closed meanwhile; its number may be another's by now, which must not hear of other spaces.
  if (port == nullptr || port->options.space != done.region->space) return;
  port->tell_remote_access(
      {{done.peer, done.reader}, Access::kRead, done.region->key, done.bytes, {}});
}

void Transfers::complete_out(const OutTransfer& done) noexcept {
  const Completion completion{.code = done.code, .bytes = done.bytes};
  if (done.one_sided) return onesided_.complete(*done.operation, completion);
  end_operation(*done.operation, completion);
}

MutableBytes Transfers::place(Path& path, const DataBody& data, std::size_t payload_bytes,
                              bool to_be_checked) noexcept {
  InTransfer* in = in_.find(data.handle);
  if (in == nullptr || in->peer != path.peer) return {};
  // A put goes into memory that others may read meanwhile: only after its checksum was found right.
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
  return {static_cast<std::byte*>(piece.data), piece.bytes};
}

bool Transfers::being_placed(const Peer& peer, const DataBody& data,
                             std::uint64_t bytes) const noexcept {
  return std::any_of(peer.paths.begin(), peer.paths.end(), [&](const auto& path) {
    return path->placing == data.handle && path->placing_begin < data.offset + bytes &&
           data.offset < path->placing_end;
  });
}

void Transfers::on_data(Path& path, const DataBody& data, Bytes payload) noexcept {
  path.placing = 0;
  Peer& peer = *path.peer;
  InTransfer* in = in_.find(data.handle);
  if (in == nullptr || in->peer != &peer) return;  // late: its transfer is complete
  if (data.offset > in->wanted || payload.size() > in->wanted - data.offset) return;
  const std::span<const MutableSlice> slices{in->slices, in->slice_count};
  const MutableSlice piece = piece_at(slices, data.offset, payload.size());
  if (piece.data != payload.data()) {
    // Another path is reading the same bytes into place, and may yet fail and leave rubbish: those
    // count. If it fails, the loss of that path asks for them again.
    if (being_placed(peer, data, payload.size())) return;
    scatter(slices, data.offset, payload);
  }
  in->arrived.add(data.offset, payload.size());
  if (in->arrived.covered() == in->wanted) complete_in(data.handle);
}

void Transfers::complete_in(std::uint64_t handle) noexcept {
  const InTransfer in = std::move(*in_.find(handle));
  in_.release(handle);
  tell_end(*in.peer, in.transfer, Errc::kOk, in.end_role());
  finish(in);
}

// in: a transfer whose bytes are all there, out of the table. out: its operation is complete.
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

void Transfers::on_sent(Path& path, std::uint64_t name) noexcept {
  LIVEBTL_ASSERT(!path.posted.empty() && path.posted.front() == name,
                 "endpoints complete frames in order");
  path.posted.pop_front();
  OutTransfer* out = out_.find(name);
  LIVEBTL_ASSERT(out != nullptr && out->posted != 0,
                 "a posted transfer stays until its frames are sent");
  --out->posted;
  complete_out_if_done(name);
}

// The path that has carried least for its weight; all equal when there is one. While that one takes
// nothing others may run ahead of it, but not far: else speed would decide the shares, not weight.
Path* Transfers::pick_path(Peer& peer) noexcept {
  Path* least = nullptr;
  for (Path* path : peer.bulk_paths) {
    if (path->open() && (least == nullptr || path->striped_share() < least->striped_share()))
      least = path;
  }
  if (least == nullptr || !least->bulk_busy) return least;
  Path* best = nullptr;
  for (Path* path : peer.bulk_paths) {
    const double ahead = (path->striped_share() - least->striped_share()) * path->weight;
    if (path->open() && !path->bulk_busy && ahead < kAheadBytesMax &&
        (best == nullptr || path->striped_share() < best->striped_share()))
      best = path;
  }
  return best;
}

std::size_t Transfers::pump(Peer& peer, std::size_t bytes_max) noexcept {
  if (peer.sending.empty()) return 0;
  std::size_t frames = 0;
  std::size_t bytes = 0;
  for (Path* path : peer.bulk_paths) path->bulk_busy = false;
  while (!peer.sending.empty() && bytes < bytes_max) {
    const std::uint64_t name = peer.sending.front();
    OutTransfer* out = out_.find(name);
    if (out == nullptr || out->finished || out->next_offset >= out->wanted) {
      peer.sending.erase(peer.sending.begin());
      continue;
    }
    Path* path = pick_path(peer);
    if (path == nullptr) break;
    const std::size_t posted = post_data(peer, *path, *out, name);
    if (posted == 0) {
      path->bulk_busy = true;
      continue;
    }
    bytes += posted;
    ++frames;
  }
  return frames;
}

Post Transfers::post_piece(Peer& peer, Path& path, const OutTransfer& out, std::uint64_t name,
                           const Slice& piece) noexcept {
  const Header<DataBody> header{{FrameKind::kData, 0, 0, 0, 0, 0, peer.rx.reorder.expected()},
                                {out.handle, out.next_offset, out.attempt, 0}};
  const Bytes payload{static_cast<const std::byte*>(piece.data), piece.bytes};
  return path.endpoint->post({bytes_of(header), payload, name, true});
}

// Posts the next fragment: exposed for a zero-copy read where the path can do that and it pays.
// Returns its bytes; 0: the path is busy.
std::size_t Transfers::post_data(Peer& peer, Path& path, OutTransfer& out,
                                 std::uint64_t name) noexcept {
  const Caps& caps = path.slot.caps;
  const std::size_t chunk = std::min<std::uint64_t>(
      std::max(caps.payload_bytes_max, caps.zero_copy_bytes_max), out.wanted - out.next_offset);
  Slice piece =
      piece_at(std::span<const Slice>{out.slices, out.slice_count}, out.next_offset, chunk);
  Post post = Post::kSmaller;
  if (piece.bytes <= caps.payload_bytes_max || piece.bytes >= caps.zero_copy_bytes_min)
    post = post_piece(peer, path, out, name, piece);
  if (post == Post::kSmaller) {
    piece.bytes = std::min<std::size_t>(piece.bytes, caps.payload_bytes_max);
    post = post_piece(peer, path, out, name, piece);
  }
  if (post == Post::kRetry) return 0;
  if (post == Post::kPosted) {
    ++out.posted;
    path.posted.push_back(name);
  }
  out.next_offset += piece.bytes;
  path.striped_bytes += piece.bytes;
  path.marker.on_placed();
  return piece.bytes;
}

void Transfers::path_lost(Peer& peer, Path& path) noexcept {
  // What was posted there refers to users' bytes no more: the endpoint is gone.
  for (const std::uint64_t name : path.posted) {
    OutTransfer* out = out_.find(name);
    LIVEBTL_ASSERT(out != nullptr, "a posted transfer stays until its frames are sent");
    --out->posted;
  }
  const std::deque<std::uint64_t> posted = std::exchange(path.posted, {});
  for (const std::uint64_t name : posted) complete_out_if_done(name);
  rewind_outgoing(peer);
  ask_again(peer);
}

// A request that waits still is made newer: a peer that breaks paths and takes nothing does not get our
// memory for them.
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
    frame->set_header(Header<CtsBody>{frame->head(), request_for(*in, cts.handle)});
    waiting.insert(cts.handle);
  }
  in_.for_each([&](std::uint64_t handle, InTransfer& in) {
    if (in.peer == &peer && !waiting.contains(handle)) ask(in, handle);
  });
}

// The receiver may have lost the path before we did, and have asked again before we posted on it
// what is lost now: it does not ask a second time. What comes twice counts once.
void Transfers::rewind_outgoing(Peer& peer) noexcept {
  out_.for_each([&](std::uint64_t name, OutTransfer& out) {
    if (out.peer != &peer || out.finished || out.wanted == 0) return;
    out.next_offset = out.asked_offset;
    if (std::find(peer.sending.begin(), peer.sending.end(), name) == peer.sending.end())
      peer.sending.push_back(name);
  });
  sender_.mark_dirty(peer);
}

void Path::on_sent(std::uint64_t cookie) noexcept { parts_.transfers.on_sent(*this, cookie); }

}  // namespace livebtl::core
