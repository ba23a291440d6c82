// SPDX-License-Identifier: BSD-3-Clause
// core/lane/receive_box.cc -- the receiver's side of fast boxes (see receive.h, core/path/fast_box.h): polling them, and
// emptying one in front of what its endpoint has brought. Under the engine's lock.
#include "core/engine/context.h"
#include "core/lane/port_state.h"
#include "core/lane/receive.h"
#include "core/lane/send.h"

namespace livebtl::core {

namespace {
constexpr std::size_t kBoxBurst = 16;  // of one box before the next has its turn
}  // namespace

// The next message, if it lies in that box. false: it does not.
// What most messages find, a receive that waits and takes just them, is done here; take_slowly() has all else.
[[gnu::always_inline]] inline bool Receiver::take_from(BoxReader& box) noexcept {
  Peer& peer = *box.peer;
  const std::uint64_t seq = peer.rx.reorder.expected();
  const BoxSlot& slot = box.slots[seq % kBoxSlots];
  const BoxWord word{box.word_of(seq)};
  if (((word.word ^ box_identity(seq)) & kBoxIdentity) != 0) return false;
  PortState* const port = ports_.find(word.target_port());
  const MessageKind kind =
      (word.flags() & kFlagTagged) != 0 ? MessageKind::kTagged : MessageKind::kPlain;
  const Tag tag = read_once(slot.tag);
  const Destination source{&peer, word.source_port()};
  if (!word.well_formed() || port == nullptr || peer.rx.reorder.early_bytes() != 0) [[unlikely]]
    return take_slowly(box, word, tag);
  Operation* const receive = port->matcher.take_first(kind, tag, source);
  if (receive == nullptr) [[unlikely]]
    return take_slowly(box, word, tag);
  RxLane& rx = peer.rx;
  rx.reorder.arrived_next();
  ++rx.messages_received;
  ++rx.released_headers;
  rx.released_bytes += word.bytes();
  ++box.frames;
  const ReceiveState& state = state_of<ReceiveState>(*receive);
  const std::size_t bytes = std::min(word.bytes(), state.capacity);
  copy_small(static_cast<std::byte*>(state.slices[0].data), slot.payload, bytes);
  const Completion completion{.code = bytes < word.bytes() ? Errc::kTruncated : Errc::kOk,
                              .has_data = (word.flags() & kFlagHasData) != 0,
                              .tag = tag,
                              .data = read_once(slot.data),
                              .bytes = bytes,
                              .message_bytes = word.bytes(),
                              .source = source,
                              .buffer = state.slices[0].data};
  // Behind the copy: the slot is the writer's again.
  if (seq + 1 - box.told >= box.tell_every) [[unlikely]]
    tell_box(box);
  receive->done(*receive, completion);
  return true;
}

bool Receiver::take_slowly(BoxReader& box, BoxWord word, Tag tag) noexcept {
  if (!word.well_formed()) {
    box.path->break_down({Errc::kCorrupt, "malformed message in the peer's fast box"});
    return true;
  }
  Peer& peer = *box.peer;
  const std::uint64_t seq = peer.rx.reorder.expected();
  const BoxSlot& slot = box.slots[seq % kBoxSlots];
  peer.rx.reorder.arrived_next();
  ++box.frames;
  const Header<MessageBody> message{
      {FrameKind::kEager, word.flags(), 0, word.target_port(), word.source_port(), seq, 0},
      {tag, read_once(slot.data)}};
  dispatch(peer, message.head, bytes_of(message), {slot.payload, word.bytes()});
  deliver_early(peer);
  if (box.polled()) tell_box(box);
  return true;
}

// How far we are, and, with it, whether credit is due.
void Receiver::tell_box(BoxReader& box) noexcept {
  Peer& peer = *box.peer;
  if (peer.rx.reorder.expected() - box.told < box.tell_every) return;
  box.tell(peer.rx.reorder.expected());
  if (peer.rx.credit_due(context_.config.settings)) sender_.mark_dirty(peer);
}

std::size_t Receiver::poll_polled() noexcept {
  std::size_t taken = 0;
  // By index: a message that breaks the rules takes boxes away.
  const std::vector<BoxReader*>& polled = boxes_.polled();
  for (std::size_t i = 0; i < polled.size(); ++i) {
    BoxReader& box = *polled[i];
    for (std::size_t burst = kBoxBurst; burst != 0 && box.polled() && take_from(box); --burst)
      ++taken;
  }
  return taken;
}

// What was sent before the frame fits into the box: more may be put there meanwhile, and is not waited for.
void Receiver::drain_box(Path& path) noexcept {
  for (std::size_t left = kBoxSlots; left != 0 && path.box_reader.polled(); --left) {
    if (!take_from(path.box_reader)) return;
  }
}

// What the peer had put into its box before the end was posted like all else, and counts as delivered.
void Path::on_down(const Error& why) noexcept {
  if (open()) parts_.receiver.drain_box(*this);
  break_down(why);
}

}  // namespace livebtl::core
