// SPDX-License-Identifier: BSD-3-Clause
// core/path/path.h -- an endpoint in use by the BML: handshake, marker state, and where its events go.
//
// Threads: under the engine's lock. Ownership: a Peer (or the BML, before the hello) owns the Path,
// the Path its Endpoint. A path that broke is only noted here; the BML clears it away between calls
// into the transport.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "core/path/handshake.h"
#include "core/path/marker.h"
#include "transports/interface/transport.h"

namespace livebtl {
struct Peer;
}

namespace livebtl::core {

class Path;
class Receiver;
class Transfers;
struct TransportSlot;

/// Where a path's events go. on_frame() and on_place() are defined in core/lane/receive.cc, on_sent()
/// in core/lane/rendezvous.cc.
struct PathParts {
  Receiver& receiver;
  Transfers& transfers;
  std::vector<Path*>& broken;  // down, and to be cleared away between calls into transports
};

class Path final : public EndpointSink {
 public:
  enum class State : std::uint8_t { kHello, kOpen, kDown };

  Path(const PathParts& parts, TransportSlot& slot, std::unique_ptr<Endpoint> endpoint,
       bool dialled, TimeNs deadline);
  ~Path();
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;

  MutableBytes on_place(Bytes header, std::size_t payload_bytes,
                        bool to_be_checked) noexcept override;
  void on_frame(Bytes header, Bytes payload) noexcept override;
  void on_sent(std::uint64_t cookie) noexcept override;
  void on_down(const Error& why) noexcept override;

  /// Marks it broken for a reason of our own (protocol error, probe without answer, order to
  /// close).
  void break_down(Error why) noexcept;

  bool open() const noexcept { return state == State::kOpen; }
  /// Nothing that we sent can still be on its way: our marker is acknowledged, nothing is posted.
  bool emptied() const noexcept {
    return marker.acked() && endpoint->in_flight() == 0 && posted.empty();
  }

  /// The peer does not use it, so that it may be closed: both ends have left it by markers that
  /// came; or nothing ordered of the peer's has come on it, and the peer keeps what it may have sent.
  bool given_up() const noexcept {
    if (marker.peer_left()) return emptied() && marker.answer_due() == 0;
    return keeps && !marker.peer_sends();
  }

  double striped_share() const noexcept { return static_cast<double>(striped_bytes) / weight; }

  TransportSlot& slot;
  std::unique_ptr<Endpoint> endpoint;
  Peer* peer = nullptr;                  // null until the hello says who it is
  std::unique_ptr<Handshake> handshake;  // until open
  std::optional<Blob> hello_out;         // a hello message that waits to be posted
  std::uint64_t id = 0;                  // drawn by the dialler; the pair's name for this path
  std::uint64_t peer_next = 0;           // what the peer expected next when it opened
  std::uint64_t sent_before = 0;         // our next number when it became the send path
  std::uint32_t told_addresses = 0;      // the version of our addresses in our hello
  TimeNs deadline = 0;                   // of the hello
  TimeNs heard = 0;                      // last time a frame came (checked at housekeeping)
  std::uint64_t heard_frames = 0;        // ... and the count then
  TimeNs probed = 0;                     // 0: no probe out
  std::deque<std::uint64_t> posted;      // transfers whose data is posted and not on_sent, in order
  std::uint64_t striped_bytes = 0;       // placed data since the bulk paths last changed
  std::uint32_t weight = 1;              // share of placed data
  // A fragment that the transport reads straight into this transfer's buffer just now
  // (rendezvous.h).
  std::uint64_t placing = 0;  // 0: none
  std::uint64_t placing_begin = 0;
  std::uint64_t placing_end = 0;
  bool bulk_busy = false;     // answered retry in this round
  bool ticket_taken = false;  // of a dialled path by tickets: the peer's has come
  RefuseReason refusal = RefuseReason::kNone;
  std::optional<Error> down_reason;
  State state = State::kHello;
  const bool dialled;
  const bool keeps;
  // May be sent on. An accepted path that does not keep waits for a frame of the dialler's: before,
  // the dialler may still give it up for another one, and nothing must be lost with it.
  bool confirmed = false;
  bool was_open = false;  // before it went down
  bool vouched = false;
  Marker marker;
  bool said_goodbye = false;
  bool closing = false;  // closed by order: its end is no loss
  bool probe_due = false;
  bool answer_due = false;   // the peer probes this path: what comes by another one does not answer
  ProcessId admitted_for{};  // accepted by a ticket, and no good hello yet: whose ticket
  std::uint64_t path_down_due = 0;  // tell the peer that this other path is lost

 private:
  const PathParts parts_;
};

}  // namespace livebtl::core
