// SPDX-License-Identifier: BSD-3-Clause
// core/lane/send_notes.cc -- the sender's unnumbered frames: acknowledgements, and notes about
// paths. Under the engine's lock.
#include <algorithm>
#include <utility>

#include "core/engine/context.h"
#include "core/lane/boxes.h"
#include "core/lane/send.h"

namespace livebtl::core {

bool Sender::post_ack(Peer& peer, Path& path) noexcept {
  RxLane& rx = peer.rx;
  const Header<CreditBody> header{{FrameKind::kAck, 0, 0, 0, 0, 0, rx.reorder.expected()},
                                  {rx.released_bytes, rx.released_headers}};
  if (path.endpoint->post({bytes_of(header), {}, 0, false}) == Post::kRetry) return false;
  path.told_behind_marker |= path.marker.left();
  rx.ack_sent = header.head.ack;
  rx.unacked_bytes = 0;
  rx.ack_wanted = false;
  rx.on_credit_told(context_.config.settings);
  return true;
}

namespace {

bool post_note(Peer& peer, Path& path, FrameKind kind, std::uint64_t about,
               std::uint64_t seq = 0) noexcept {
  const std::uint8_t flags =
      kind == FrameKind::kMarker || kind == FrameKind::kProbe ? kFlagAckWanted : 0;
  const Header<PathBody> header{{kind, flags, 0, 0, 0, 0, peer.rx.reorder.expected()},
                                {about, seq}};
  return path.endpoint->post({bytes_of(header), {}, 0, false}) != Post::kRetry;
}

/// false: not all of them could be posted.
bool post_box_notes(Peer& peer, Path& path) noexcept {
  for (const BoxNote note : {BoxNote::kLeft, BoxNote::kAsk, BoxNote::kGranted, BoxNote::kRefused}) {
    const auto bit = static_cast<std::uint8_t>(1U << static_cast<unsigned>(note));
    if ((path.box_notes & bit) == 0) continue;
    const bool writers = note == BoxNote::kLeft || note == BoxNote::kAsk;
    const std::uint64_t ordinal = writers ? path.box_writer.ordinal : path.box_reader.ordinal;
    if (!post_note(peer, path, FrameKind::kBox, path.id,
                   ordinal << 8 | static_cast<std::uint64_t>(note)))
      return false;
    path.box_notes &= static_cast<std::uint8_t>(~bit);
  }
  return true;
}

// The peer's time to answer starts now. A probe repeated for another reason does not extend it.
void on_probe_posted(Path& path, TimeNs now) noexcept {
  path.probe_due = false;
  if (std::exchange(path.probe_unposted, false) && path.probed != 0) path.probed = now;
}

// An unconfirmed path may be given up in good order, with what was sent on it.
bool tells_losses(const Path& path) noexcept { return path.losses_due && path.confirmed; }

/// false: not all of them could be posted. Repeats have no effect.
bool post_losses(Peer& peer, Path& path) noexcept {
  return std::ranges::all_of(peer.lost_paths, [&](const auto& lost) {
    return post_note(peer, path, FrameKind::kPathDown, lost.second);
  });
}

}  // namespace

// A process that sends nothing to the peer now (its transport was taken away, or the job is held)
// still acknowledges: the other end would take silence for a broken path. Not while a marker is to
// be acknowledged: that says the same, and nothing may follow it.
void Sender::answer_without_path(Peer& peer) noexcept {
  if (!peer.rx.ack_wanted) return;
  Path* used = nullptr;  // by the peer
  for (auto& path : peer.paths) {
    if (!path->open() || !path->confirmed || path->closing) continue;
    if (path->marker.answer_due() != 0) return;
    if (path->marker.peer_sends() || (used == nullptr && !path->marker.peer_left()))
      used = path.get();
  }
  if (used != nullptr && !post_ack(peer, *used)) mark_dirty(peer);
}

// Frames about a path are posted on that path, so that a marker follows all that went before.
void Sender::flush_path_notes(Peer& peer) noexcept {
  if (peer.send_path == nullptr) [[unlikely]]
    answer_without_path(peer);
  bool again = false;
  for (auto& path : peer.paths) {
    if (!path->open()) continue;
    if (tells_losses(*path) && post_losses(peer, *path)) path->losses_due = false;
    if (path->marker.due() &&
        post_note(peer, *path, FrameKind::kMarker, path->id, path->marker.next())) {
      path->marker.on_posted();
      Boxes::on_left(*path);
    }
    // After our own marker: an end that has the acknowledgement may close the path.
    if (path->marker.answer_due() != 0 && !path->marker.due() &&
        post_note(peer, *path, FrameKind::kMarkerAck, path->id, path->marker.answer_due())) {
      path->marker.on_answered();
      path->answer_due = false;  // answered by this
      peer.rx.ack_sent = peer.rx.reorder.expected();
      peer.rx.unacked_bytes = 0;
      peer.rx.ack_wanted = false;
    }
    if (path->box_notes != 0 && !path->marker.left()) again |= !post_box_notes(peer, *path);
    if (path->probe_due && post_note(peer, *path, FrameKind::kProbe, path->id))
      on_probe_posted(*path, context_.now);
    // Not while a marker's acknowledgement is owed: nothing may follow that.
    if (path->answer_due && path->marker.answer_due() == 0 && post_ack(peer, *path))
      path->answer_due = false;
    again |= tells_losses(*path) || path->marker.due() || path->marker.answer_due() != 0 ||
             path->probe_due || path->answer_due;
  }
  if (again) mark_dirty(peer);
}

}  // namespace livebtl::core
