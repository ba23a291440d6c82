// SPDX-License-Identifier: BSD-3-Clause
// core/lane/receive.h -- incoming frames: checks them, drops repeats, orders them, and hands each
// kind to its part.
//
// Threads: under the engine's lock. Answers are queued here and posted after the transport's
// progress() has returned.
#pragma once

#include "core/engine/parts.h"
#include "core/lane/boxes.h"
#include "core/lane/match.h"
#include "core/lane/peer.h"

namespace livebtl::core {

class Receiver {
 public:
  Receiver(const Context& context, Sender& sender, Transfers& transfers, OneSided& onesided,
           PortTable& ports, Boxes& boxes, PathEvents& events)
      : context_(context),
        sender_(sender),
        transfers_(transfers),
        onesided_(onesided),
        ports_(ports),
        boxes_(boxes),
        events_(events) {}

  void on_frame(Path& path, Bytes header, Bytes payload) noexcept;
  /// Takes what lies in the fast boxes. Returns messages taken.
  std::size_t poll_boxes() noexcept { return boxes_.polled().empty() ? 0 : poll_polled(); }
  /// Empties this path's box, before what its endpoint has brought is handled.
  void drain_box(Path& path) noexcept;
  bool is_wanted(Path& path, Bytes header) noexcept;
  MutableBytes on_place(Path& path, Bytes header, std::size_t payload_bytes,
                        bool to_be_checked) noexcept;

  /// Gives an unexpected (or claimed) message to a receive, and its credit back.
  void deliver_unexpected(PortState& port, std::unique_ptr<Unexpected> message,
                          Operation& receive) noexcept;
  /// An unexpected message that nobody will receive. code: for a sender that waits for its end.
  void drop_unexpected(std::unique_ptr<Unexpected> message, Errc code) noexcept;
  /// Gives back credit for messages that were kept.
  void give_back(Peer& peer, std::size_t bytes, std::uint32_t headers) noexcept;

  /// Some peer's messages were stored when no credit could go back early; no event retries that.
  bool keeps_credit() const noexcept { return keeps_credit_; }
  /// Retries that for one peer, once half of what was in the way has gone. Call it for each peer
  /// while keeps_credit(), now and then.
  void give_back_kept(Peer& peer) noexcept;
  void all_given_back() noexcept { keeps_credit_ = false; }

 private:
  bool hold(Peer& peer, std::size_t bytes) noexcept;
  void release_credit(Peer& peer, std::size_t bytes) noexcept;
  void answer_taken(Peer& peer, std::uint64_t number, std::size_t bytes, Errc code) noexcept;
  void tell_done(Peer& peer, std::uint64_t number, Errc code, Role role) noexcept;
  void return_credit_early(Unexpected& message) noexcept;
  void return_credit(Unexpected& message) noexcept;
  void give_back_eager(const Unexpected& message, Errc code) noexcept;
  Role role_of_answer(const Unexpected& message) noexcept;
  std::size_t poll_polled() noexcept;
  bool take_from(BoxReader& box) noexcept;
  template <bool kWhole>
  void take(BoxReader& box, BoxWord word, Bytes payload) noexcept;
  bool take_body(BoxReader& box, BoxWord word) noexcept;
  void take_slowly(BoxReader& box, BoxWord word, Tag tag, Bytes payload) noexcept;
  void tell_box(BoxReader& box) noexcept;
  void on_any_frame(Path& path, Bytes header, Bytes payload) noexcept;
  void on_next_message(Path& path, const Header<MessageBody>& message, Bytes payload) noexcept;
  void on_ordered(Path& path, const FrameHead& head, Bytes header, Bytes payload) noexcept;
  void deliver_early(Peer& peer) noexcept;
  void dispatch(Peer& peer, const FrameHead& head, Bytes header, Bytes payload) noexcept;
  void on_message(Peer& peer, const FrameHead& head, const MessageBody& body,
                  Bytes payload) noexcept;
  void on_offer(Peer& peer, const FrameHead& head, const RtsBody& body, Bytes payload) noexcept;
  void on_answer(Peer& peer, const FrameHead& head, const FinBody& body, Bytes payload) noexcept;
  void on_active(Peer& peer, const FrameHead& head, const MessageBody& body,
                 Bytes payload) noexcept;
  void on_credit(Path& path, const CreditBody& credit) noexcept;
  void keep_unexpected(PortState& port, const Envelope& envelope, Bytes payload) noexcept;
  void deliver_eager(Operation& receive, const Envelope& envelope, Bytes payload) noexcept;
  void deliver_offer(PortState& port, Operation& receive, const Envelope& envelope,
                     bool credit_returned) noexcept;
  /// An offer whose payload is exposed: takes the receive that it goes to, if all of it can be read
  /// into that one's buffer now. Then: it was read, or was not.
  bool begin_offer_read(Path& path, const FrameHead& head, const RtsBody& body) noexcept;
  void end_offer_read(Path& path, const FrameHead& head, std::size_t header_bytes,
                      Bytes payload) noexcept;
  void count_ack_owed(Peer& peer, const FrameHead& head, std::size_t bytes) noexcept;

  std::uint64_t unexpected_bytes_ = 0;  // of memory, of all ports
  bool keeps_credit_ = false;           // some peer's rx.keeps_credit

  const Context& context_;
  Sender& sender_;
  Transfers& transfers_;
  OneSided& onesided_;
  PortTable& ports_;
  Boxes& boxes_;
  PathEvents& events_;
};

}  // namespace livebtl::core
