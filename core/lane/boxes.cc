// SPDX-License-Identifier: BSD-3-Clause
// core/lane/boxes.cc -- see boxes.h. Nothing here runs per message, except renew(), once per lap of
// the box.
#include "core/lane/boxes.h"

#include "core/engine/context.h"
#include "core/lane/frame.h"
#include "core/lane/send.h"

namespace livebtl::core {
namespace {

static_assert(static_cast<std::uint8_t>(FrameKind::kEager) == 1 &&
                  kBoxFlags == (kFlagHasData | kFlagTagged),
              "a slot's word says what an eager frame's head says");
constexpr TimeNs kAskAgainAfter = 100 * kMillisecond;
constexpr TimeNs kUseLookEvery = 100 * kMillisecond;  // interval of use checks
constexpr std::uint8_t bit(BoxNote note) noexcept {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(note));
}
constexpr std::uint8_t kWriters = bit(BoxNote::kLeft) | bit(BoxNote::kAsk);
constexpr std::uint8_t kReaders = bit(BoxNote::kGranted) | bit(BoxNote::kRefused);

}  // namespace

void Boxes::note(Path& path, BoxNote note) noexcept {
  path.box_notes |= bit(note);
  sender_.mark_dirty(*path.peer);
}

void Boxes::count_towards_request(Path& path) noexcept {
  BoxWriter& writer = path.box_writer;
  const std::uint32_t after = context_.config.settings.box_after;
  if (after == 0 || path.box == nullptr || ++writer.small_sent < after) return;
  if (context_.now < writer.ask_at || path.box_notes != 0) return;
  writer.state = BoxWriter::State::kAsked;
  writer.small_sent = 0;
  ++writer.ordinal;
  note(path, BoxNote::kAsk);
}

bool Boxes::renew(Peer& peer) noexcept {
  TxLane& tx = peer.tx;
  tx.lease.end();
  Path* const path = peer.send_path;
  if (!path->open() || peer.lost || !tx.idle() || tx.overtake_bytes != SIZE_MAX) return false;
  BoxWriter& writer = path->box_writer;
  const BoxMemory memory = path->box->outgoing();
  const std::uint64_t taken = std::atomic_ref(*memory.taken).load(std::memory_order_acquire);
  if (taken < writer.taken || !sender_.acknowledged(peer, std::max(taken, tx.acked))) {
    path->break_down({Errc::kCorrupt, "the peer took what was never in its fast box"});
    return false;
  }
  writer.taken = taken;
  const std::uint64_t used = tx.next_seq - std::max(taken, tx.acked);
  const std::uint64_t slots = used < kBoxSlots ? kBoxSlots - used : 0;
  const std::uint64_t headers =
      tx.credit_headers -
      std::min<std::uint64_t>(tx.used_headers - tx.released_headers, tx.credit_headers);
  const std::uint64_t bytes =
      tx.credit_bytes - std::min<std::uint64_t>(tx.used_bytes - tx.released_bytes, tx.credit_bytes);
  Lease& lease = tx.lease;
  lease.left = lease.given = static_cast<std::uint32_t>(std::min(slots, headers));
  lease.bytes = static_cast<std::uint32_t>(bytes);
  lease.slots = memory.slots;
  lease.area = memory.area;
  lease.asleep = memory.asleep;
  lease.writer = &writer;
  return lease.left != 0;
}

void Boxes::on_left(Path& path) noexcept {
  path.box_writer.state = BoxWriter::State::kNone;
  path.box_writer.small_sent = 0;
  path.box_notes &= static_cast<std::uint8_t>(~kWriters);  // the marker says as much
}

bool Boxes::waiting() const noexcept {
  return std::ranges::any_of(
      polled_, [](const BoxReader* box) { return box->has(box->peer->rx.reorder.expected()); });
}

void Boxes::close(Path& path) noexcept {
  BoxReader& reader = path.box_reader;
  if (!reader.polled()) return;
  std::erase(polled_, &reader);
  reader.slots = nullptr;
  path.box_notes &= static_cast<std::uint8_t>(~kReaders);  // the request is over
}

void Boxes::on_note(Path& path, std::uint64_t seq) noexcept {
  const auto ordinal = static_cast<std::uint32_t>(seq >> 8);
  BoxWriter& writer = path.box_writer;
  const bool answers = ordinal == writer.ordinal && writer.state != BoxWriter::State::kNone;
  switch (static_cast<BoxNote>(seq & 0xff)) {
    case BoxNote::kAsk:
      return on_ask(path, ordinal);
    case BoxNote::kLeft:
      if (ordinal == path.box_reader.ordinal) close(path);
      return;
    case BoxNote::kGranted:
      if (!answers || writer.state != BoxWriter::State::kAsked) return;
      writer.state = BoxWriter::State::kGranted;
      writer.taken = 0;
      writer.bodies = {};
      return;
    case BoxNote::kRefused:
      if (answers) on_refused(path);
      return;
  }
  path.break_down({Errc::kCorrupt, "the peer sent an invalid note about a fast box"});
}

// A granted box is reclaimed this way.
void Boxes::on_refused(Path& path) noexcept {
  const bool granted = path.box_writer.state == BoxWriter::State::kGranted;
  path.box_writer.state = BoxWriter::State::kNone;
  path.box_writer.ask_at = context_.now + kAskAgainAfter;
  if (!granted) return;
  path.peer->tx.lease.end();
  note(path, BoxNote::kLeft);
}

void Boxes::on_ask(Path& path, std::uint32_t ordinal) noexcept {
  close(path);
  BoxReader& reader = path.box_reader;
  reader.ordinal = ordinal;
  reader.path = &path;
  reader.peer = path.peer;
  const bool room = polled_.size() < context_.config.settings.boxes_max;
  refused_ = refused_ || !room;
  if (path.box == nullptr || !room || !path.marker.peer_sends())
    return note(path, BoxNote::kRefused);
  reader.tell_every = std::clamp<std::uint64_t>(context_.config.settings.credit_headers / 4, 1,
                                                BoxReader::kTellEveryMax);
  reader.begin(path.box->incoming(), path.peer->rx.reorder.expected());
  polled_.push_back(&reader);
  note(path, BoxNote::kGranted);
}

void Boxes::detach(Path& path) noexcept {
  if (path.peer != nullptr && path.peer->tx.lease.writer == &path.box_writer)
    path.peer->tx.lease.end();
  path.box_writer.state = BoxWriter::State::kNone;
  path.box_notes = 0;
  path.box = nullptr;
  close(path);
}

void Path::detach_boxes() noexcept { parts_.boxes.detach(*this); }

// A box stays while nobody else wants one. Far fewer than 2^24 numbers can pass between two calls.
void Boxes::keep_time() noexcept {
  for (BoxReader* box : polled_) {
    const std::uint64_t expected = box->peer->rx.reorder.expected();
    if (box->unclean(expected)) box->clean(expected);
  }
  if (context_.now - looked_at_ < kUseLookEvery) return;
  looked_at_ = context_.now;
  const bool wanted = std::exchange(refused_, false);
  for (BoxReader* box : polled_) {
    if (wanted && box->frames == box->frames_seen) note(*box->path, BoxNote::kRefused);
    box->frames_seen = box->frames;
  }
}

TimeNs Boxes::due_at() const noexcept {
  return refused_ && !polled_.empty() ? looked_at_ + kUseLookEvery : kNoDeadline;
}

EndpointStats stats_of(const Path& path) noexcept {
  EndpointStats stats = path.endpoint->stats();
  std::uint64_t frames = path.box_writer.frames;
  if (path.peer != nullptr && path.peer->tx.lease.writer == &path.box_writer)
    frames += path.peer->tx.lease.given - path.peer->tx.lease.left;
  stats.frames_sent += frames;
  stats.bytes_sent += frames * sizeof(BoxSlot) + path.box_writer.body_bytes;
  stats.frames_received += path.box_reader.frames;
  stats.bytes_received += path.box_reader.frames * sizeof(BoxSlot) + path.box_reader.body_bytes;
  return stats;
}

}  // namespace livebtl::core
