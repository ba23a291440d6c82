// SPDX-License-Identifier: BSD-3-Clause
// core/lane/receive_box.cc -- the receiver's side of fast boxes (see receive.h,
// core/path/fast_box.h): polling them, and emptying one before what its endpoint has brought. Under
// the engine's lock.
#include "core/engine/context.h"
#include "core/lane/port_state.h"
#include "core/lane/receive.h"
#include "core/lane/send.h"

namespace livebtl::core {

namespace {
constexpr std::size_t kBoxBurst = 16;  // messages of a box in its turn
}  // namespace

// payload: in memory that the peer may change, read once; kWhole: it lies in the slot. The usual
// case, a posted receive that takes just this message, is done here; take_slowly() does the rest.
template <bool kWhole>
[[gnu::always_inline]] inline void Receiver::take(BoxReader& box, BoxWord word,
                                                  Bytes payload) noexcept {
  Peer& peer = *box.peer;
  const std::uint64_t seq = peer.rx.reorder.expected();
  const BoxSlot& slot = box.slots[seq % kBoxSlots];
  PortState* const port = ports_.find(word.target_port());
  const MessageKind kind =
      (word.flags() & kFlagTagged) != 0 ? MessageKind::kTagged : MessageKind::kPlain;
  const Tag tag = read_once(slot.tag);
  const Destination source{&peer, word.source_port()};
  if (port == nullptr || peer.rx.reorder.early_bytes() != 0) [[unlikely]]
    return take_slowly(box, word, tag, payload);
  Operation* const receive = port->matcher.take_first(kind, tag, source);
  if (receive == nullptr) [[unlikely]]
    return take_slowly(box, word, tag, payload);
  RxLane& rx = peer.rx;
  rx.reorder.arrived_next();
  rx.took(payload.size());
  ++box.frames;
  const ReceiveState& state = state_of<ReceiveState>(*receive);
  const std::size_t bytes = std::min(payload.size(), state.capacity);
  if constexpr (kWhole)
    copy_small(static_cast<std::byte*>(state.slices[0].data), payload.data(), bytes);
  else
    copy_bytes(state.slices[0].data, payload.data(), bytes);
  const Completion completion{.code = bytes < payload.size() ? Errc::kTruncated : Errc::kOk,
                              .has_data = (word.flags() & kFlagHasData) != 0,
                              .tag = tag,
                              .data = read_once(slot.data),
                              .bytes = bytes,
                              .message_bytes = payload.size(),
                              .source = source,
                              .buffer = state.slices[0].data};
  // After the copy: the slot is the writer's again.
  if (seq + 1 - box.told >= box.tell_every) [[unlikely]]
    tell_box(box);
  receive->done(*receive, completion);
}

// Takes the next message, if it is in that box. false: it is not.
[[gnu::always_inline]] inline bool Receiver::take_from(BoxReader& box) noexcept {
  const std::uint64_t seq = box.peer->rx.reorder.expected();
  const BoxWord word{box.word_of(seq)};
  if (((word.word ^ box_identity(seq)) & kBoxIdentity) != 0) {
    box.fetch_ahead();
    return false;
  }
  if (!word.whole()) [[unlikely]]
    return take_body(box, word);
  take<true>(box, word, {box.slots[seq % kBoxSlots].payload, word.bytes()});
  return true;
}

[[gnu::noinline]] bool Receiver::take_body(BoxReader& box, BoxWord word) noexcept {
  const BoxSlot& slot = box.slots[box.peer->rx.reorder.expected() % kBoxSlots];
  const auto body = read_body_once(slot);
  if (!word.has_body() || !body.within_area()) {
    box.path->break_down({Errc::kCorrupt, "malformed message in the peer's fast box"});
    return true;
  }
  box.took_body(body);
  take<false>(box, word, {box.area + body.offset, body.bytes});
  if (box.polled() && box.untold_bytes >= BoxReader::kUntoldBytesMax) tell_box(box);
  return true;
}

[[gnu::noinline]] void Receiver::take_slowly(BoxReader& box, BoxWord word, Tag tag,
                                             Bytes payload) noexcept {
  Peer& peer = *box.peer;
  const std::uint64_t seq = peer.rx.reorder.expected();
  peer.rx.reorder.arrived_next();
  ++box.frames;
  const Header<MessageBody> message{
      {FrameKind::kEager, word.flags(), 0, word.target_port(), word.source_port(), seq, 0},
      {tag, read_once(box.slots[seq % kBoxSlots].data)}};
  dispatch(peer, message.head, bytes_of(message), payload);
  deliver_early(peer);
  if (box.polled()) tell_box(box);
}

// Tells the writer how far we are, and credit that is due.
void Receiver::tell_box(BoxReader& box) noexcept {
  Peer& peer = *box.peer;
  if (!box.worth_telling(peer.rx.reorder.expected())) return;
  box.tell(peer.rx.reorder.expected());
  if (peer.rx.credit_due()) sender_.mark_dirty(peer);
}

std::size_t Receiver::poll_polled() noexcept {
  std::size_t taken = 0;
  // By index: a message that breaks the rules removes boxes.
  const std::vector<BoxReader*>& polled = boxes_.polled();
  for (std::size_t i = 0; i < polled.size(); ++i) {
    BoxReader& box = *polled[i];
    for (std::size_t burst = kBoxBurst; burst != 0 && box.polled() && take_from(box); --burst)
      ++taken;
  }
  return taken;
}

// At most a boxful was sent before the frame; what is added meanwhile is not waited for.
void Receiver::drain_box(Path& path) noexcept {
  for (std::size_t left = kBoxSlots; left != 0 && path.box_reader.polled(); --left) {
    if (!take_from(path.box_reader)) return;
  }
}

// What the peer put into its box before the end was posted like all else, and counts as delivered.
void Path::on_down(const Error& why) noexcept {
  if (open()) parts_.receiver.drain_box(*this);
  break_down(why);
}

}  // namespace livebtl::core
