// SPDX-License-Identifier: BSD-3-Clause
// core/lane/send.h -- the ordered lane's sending side: inject, eager or rendezvous; number, post, keep;
// replay.
//
// Threads: under the engine's lock.
// The stages of one message: admit -> choose the protocol -> credit -> number and post -> keep ->
// complete. A path may answer "busy" to any post: what waits then, and what must not pass it, is in
// tests/model/busy.pml.
#pragma once

#include <memory>
#include <vector>

#include "core/engine/parts.h"
#include "core/lane/peer.h"

namespace livebtl::core {

/// What the engine keeps for a send, put, get or atomic while its first frame waits.
struct SendState {
  OutFrame frame;
  PortState* port = nullptr;
  Peer* peer = nullptr;
  std::size_t bytes = 0;
  Operation* previous =
      nullptr;  // one-sided: the port's list of open operations, in order of acceptance
  Operation* next = nullptr;
  std::uint64_t number = 0;       // one-sided: place in that order
  std::uint64_t remote_data = 0;  // a put's: travels in front of its payload
  bool completes_when_posted = false;
};
static_assert(sizeof(SendState) <= sizeof(Operation::engine_state));

/// Ends a send, put, get or atomic: it is the user's again, and no longer open.
void end_operation(Operation& operation, const Completion& completion) noexcept;

/// Could a fast box take it, if it were short enough?
inline bool boxable(PortNumber from, const SendRequest& request) noexcept {
  return request.slices.size() <= 1 && !request.delivery_complete &&
         (request.to.port | from) < kBoxPortsEnd;
}
/// Could a fast box take it?
inline bool fits_box(PortNumber from, const SendRequest& request) noexcept {
  return boxable(from, request) &&
         (request.slices.empty() || request.slices.front().bytes <= kBoxBodyBytesMax);
}

class Sender {
 public:
  Sender(const Context& context, Transfers& transfers, Boxes& boxes, PathEvents& events)
      : context_(context), transfers_(transfers), boxes_(boxes), events_(events) {}
  ~Sender();
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  /// operation: null for inject, whose bytes are copied if they cannot go at once.
  Accept send(PortState& port, const SendRequest& request, Operation* operation) noexcept;
  Accept send_active(PortState& port, const Destination& to, std::uint8_t handler,
                     std::uint64_t argument, std::span<const Slice> slices,
                     Operation& operation) noexcept;

  /// Queues a frame of the engine's own. payload: copied.
  template <class Body>
  void queue_control(Peer& peer, FrameKind kind, std::uint8_t flags, PortNumber target_port,
                     PortNumber source_port, const Body& body, Bytes payload = {},
                     Role role = Role::kPlain) {
    const Header<Body> header{{kind, flags, 0, target_port, source_port, 0, 0}, body};
    queue_pooled(peer, bytes_of(header), payload, role);
  }
  void queue_addresses(Peer& peer, Bytes payload);
  /// The peer has answered `operation` (null: none of the user's). false: its frame still waits
  /// here, in memory that the answer would give back; the peer made the answer up, and is lost.
  bool was_posted(Peer& peer, Operation* operation) noexcept;
  /// A request of ours to that peer has ended: another one may go.
  void request_ended(Peer& peer) noexcept;
  /// Queues a frame that lies in an Operation.
  void queue(Peer& peer, OutFrame& frame) noexcept;

  /// Posts what can be posted for this peer. Returns frames posted.
  std::size_t flush(Peer& peer) noexcept;
  /// The same for all dirty peers.
  std::size_t flush_all() noexcept { return dirty_.empty() ? 0 : flush_dirty(); }
  void mark_dirty(Peer& peer) noexcept;
  /// Some peer still has something to post: flush again.
  bool pending() const noexcept { return !dirty_.empty(); }
  /// How many queued frames and data frames of large messages were ever posted. Includes answers to
  /// others; excludes the user's small messages that went at once.
  std::uint64_t queued_posted() const noexcept { return queued_posted_; }

  /// The peer has taken all numbers below ack. false: it cannot have (ack was never sent).
  bool acknowledged(Peer& peer, std::uint64_t ack) noexcept {
    if (ack > peer.tx.next_seq) return false;
    peer.tx.on_acked(ack);
    if (peer.tx.window) release(peer);
    return true;
  }
  /// A standalone acknowledgement with credit, if a path can take it now.
  bool post_ack(Peer& peer, Path& path) noexcept;
  /// Frames [from, end) must be sent again.
  void replay(Peer& peer, std::uint64_t from, std::uint64_t end) noexcept;
  /// Ends what a port that is being closed has queued for this peer.
  void cancel_port(PortState& port, Peer& peer) noexcept;
  /// Ends everything queued for a lost peer.
  void fail_all(Peer& peer) noexcept;

 private:
  std::size_t flush_dirty() noexcept;
  void release(Peer& peer) noexcept;
  Post post_ordered(Peer& peer, Path& path, FrameHead& head, std::size_t header_bytes,
                    Bytes payload, std::uint64_t exposed_as = 0) noexcept;
  Post post_exposing(Peer& peer, Path& path, OutFrame& frame) noexcept;
  void queue_pooled(Peer& peer, Bytes header, Bytes payload, Role role);
  Accept send_later(PortState& port, const SendRequest& request, Operation* operation,
                    const Header<MessageBody>& header, std::size_t bytes) noexcept;
  void queue_send(PortState& port, const SendRequest& request, Operation& operation,
                  const Header<MessageBody>& header, std::size_t bytes) noexcept;
  void offer_instead(Peer& peer, const Path& path, OutFrame& frame) noexcept;
  bool spend_credit(Peer& peer, Path& path, OutFrame& frame) noexcept;
  void ask_for_credit(Peer& peer, Path& path) noexcept;
  bool flush_replay(Peer& peer, Path& path) noexcept;
  bool flush_queue(Peer& peer, Path& path, FrameQueue& queue, std::size_t& posted) noexcept;
  void end_queued(Peer& peer, const PortState* port, Errc code) noexcept;
  void flush_path_notes(Peer& peer) noexcept;
  [[gnu::noinline]] Accept send_by_endpoint(PortState& port, const SendRequest& request,
                                            Operation* operation) noexcept;
  bool put_into_box(PortState& port, const SendRequest& request) noexcept;
  bool put_with_body(PortState& port, const SendRequest& request) noexcept;
  template <class Fill>
  static void commit(PortState& port, const SendRequest& request, std::size_t bytes,
                     std::size_t said_bytes, const Fill& fill) noexcept;
  void answer_without_path(Peer& peer) noexcept;
  void taken(Peer& peer, OutFrame& frame, std::uint64_t seq) noexcept;
  void count(Peer& peer, OutFrame& frame) noexcept;
  /// As one piece: several are gathered in scratch_.
  Bytes gather(std::span<const Slice> slices, std::size_t bytes) noexcept {
    if (slices.size() == 1) [[likely]]
      return {static_cast<const std::byte*>(slices[0].data), bytes};
    return gather_several(slices, bytes);
  }
  Bytes gather_several(std::span<const Slice> slices, std::size_t bytes) noexcept;

  struct PooledFrame : OutFrame {
    Blob payload_copy;
  };
  PooledFrame& pooled();
  static void fill(PooledFrame& frame, Bytes payload);
  void recycle(PooledFrame& frame) noexcept;

  const Context& context_;
  Transfers& transfers_;
  Boxes& boxes_;
  PathEvents& events_;
  std::vector<Peer*> dirty_;
  std::vector<Peer*> dirty_now_;
  std::vector<std::unique_ptr<PooledFrame>> pool_;
  std::vector<PooledFrame*> free_;
  Blob scratch_;  // gathers scattered payloads
  std::uint64_t queued_posted_ = 0;
};

/// Largest payload of an active message.
inline constexpr std::size_t kActiveBytesMax = 8192;

template <class SliceType>
std::size_t total_bytes(std::span<const SliceType> slices) noexcept {
  std::size_t bytes = 0;
  for (const SliceType& slice : slices) bytes += slice.bytes;
  return bytes;
}

}  // namespace livebtl::core
