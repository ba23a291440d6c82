// SPDX-License-Identifier: BSD-3-Clause
// core/lane/rendezvous_data.cc -- sends the data of large messages, puts and gets: by which path,
// and how. See rendezvous.h. Under the engine's lock.
#include <algorithm>

#include "core/engine/context.h"
#include "core/lane/pieces.h"
#include "core/lane/rendezvous.h"

namespace livebtl::core {

namespace {

constexpr double kLeadBytesMax = 1 << 20;  // of placed data, over a path that is busy

}  // namespace

// The path that has carried the least for its weight. While it is busy, others may get ahead of it,
// but not by much: else speed would decide the shares, not weight.
Path* Transfers::pick_path(Peer& peer) noexcept {
  Path* least = nullptr;
  for (Path* path : peer.bulk_paths) {
    if (path->open() && (least == nullptr || path->striped_share() < least->striped_share()))
      least = path;
  }
  if (least == nullptr || !least->bulk_busy) return least;
  Path* best = nullptr;
  for (Path* path : peer.bulk_paths) {
    const double lead = (path->striped_share() - least->striped_share()) * path->weight;
    if (path->open() && !path->bulk_busy && lead < kLeadBytesMax &&
        (best == nullptr || path->striped_share() < best->striped_share()))
      best = path;
  }
  return best;
}

std::size_t Transfers::pump(Peer& peer, std::size_t bytes_max) noexcept {
  if (peer.sending.empty()) return 0;
  std::size_t frames = 0;
  std::size_t bytes = 0;
  for (Path* path : peer.bulk_paths) path->bulk_busy = path->sent < path->bulk_awaits;
  while (!peer.sending.empty() && bytes < bytes_max) {
    const std::uint64_t name = peer.sending.front();
    OutTransfer* out = out_.find(name);
    if (out == nullptr || out->finished || out->next_offset >= out->end()) {
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
                           const Slice& piece, bool exposed) noexcept {
  const std::uint8_t flags = out.asked_for() ? 0 : kFlagAhead;
  const Header<DataBody> header{
      {FrameKind::kData, flags, 0, 0, 0, 0, peer.rx.reorder.expected()},
      {out.asked_for() ? out.handle : name, out.next_offset, out.attempt, 0}};
  const Bytes payload{static_cast<const std::byte*>(piece.data), piece.bytes};
  const Post post = path.endpoint->post({bytes_of(header), payload, name, true, exposed});
  // on_sent() is called for each buffer that is exposed: before, there is hardly room for another.
  if (exposed && post == Post::kRetry && !path.posted.empty()) path.bulk_awaits = path.sent + 1;
  return post;
}

// Is a fragment of this size exposed? A transfer goes the same way from beginning to end.
bool Transfers::exposes(Peer& peer, const Path& path, OutTransfer& out,
                        std::size_t bytes) noexcept {
  const Caps& caps = path.slot.caps;
  if (caps.zero_copy_bytes_min == 0 || bytes < caps.zero_copy_bytes_min) return false;
  if (path.copies != Copies::kMeasured) return path.copies == Copies::kOnce;
  if (out.begun_at == 0) {
    out.begin(peer, context_.config.now());
    out.way = peer.copies.next(out.total());
  }
  return out.way != CopyChoice::Way::kCopied;
}

// Begins to time a copy of a transfer of `total` bytes, see copy_work.h. 0: it is not timed.
TimeNs Transfers::begin_copy(const Path& path, CopyWork::Part part, std::uint64_t total,
                             std::size_t bytes) const noexcept {
  if (!path.measures_copies() || !path.peer->copies.work(total).due(part, bytes)) return 0;
  return context_.config.now();
}

void Transfers::end_copy(const Path& path, CopyWork::Part part, std::uint64_t total,
                         std::size_t bytes, TimeNs begun) const noexcept {
  if (!path.measures_copies() || bytes == 0) return;
  std::optional<TimeNs> took;
  if (begun != 0) took = context_.config.now() - begun;
  path.peer->copies.work(total).copied(part, bytes, took);
}

Post Transfers::post_copied(Peer& peer, Path& path, const OutTransfer& out, std::uint64_t name,
                            const Slice& piece) noexcept {
  const TimeNs begun = begin_copy(path, CopyWork::Part::kIn, out.total(), piece.bytes);
  const Post post = post_piece(peer, path, out, name, piece, false);
  if (post == Post::kDone) end_copy(path, CopyWork::Part::kIn, out.total(), piece.bytes, begun);
  return post;
}

// Posts the next fragment, exposed for a zero-copy read where the path can do that and it pays
// (even ahead of the request: in one go, as it costs this end nothing).
// Returns its bytes; 0: the path is busy.
std::size_t Transfers::post_data(Peer& peer, Path& path, OutTransfer& out,
                                 std::uint64_t name) noexcept {
  const Caps& caps = path.slot.caps;
  const std::size_t chunk = std::min<std::uint64_t>(
      std::max(caps.payload_bytes_max, caps.zero_copy_bytes_max), out.total() - out.next_offset);
  Slice piece =
      piece_at(std::span<const Slice>{out.slices, out.slice_count}, out.next_offset, chunk);
  Post post = Post::kSmaller;
  if (exposes(peer, path, out, piece.bytes)) {
    post = post_piece(peer, path, out, name, piece, true);
    if (post == Post::kSmaller) out.way.reset();  // not a choice, so nothing is learnt from it
  }
  if (post == Post::kSmaller) {
    const std::uint32_t copied_max =
        caps.piece_bytes_max != 0 ? caps.piece_bytes_max : caps.payload_bytes_max;
    piece.bytes = std::min<std::size_t>({piece.bytes, copied_max, out.end() - out.next_offset});
    post = post_copied(peer, path, out, name, piece);
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

}  // namespace livebtl::core
