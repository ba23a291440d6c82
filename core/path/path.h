// SPDX-License-Identifier: BSD-3-Clause
// core/path/path.h -- an endpoint in use by the BML: handshake, marker state, and where its events
// go.
//
// Threads: under the engine's lock. Ownership: a Peer (or the BML, before the hello) owns the Path,
// the Path its Endpoint. A path that broke is only noted here; the BML clears it away between calls
// into the transport.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "core/engine/parts.h"
#include "core/path/fast_box.h"
#include "core/path/handshake.h"
#include "core/path/marker.h"
#include "core/path/transport_slot.h"

namespace livebtl::core {

/// Where a path's events go. on_frame(), on_place() and on_down() are defined in
/// core/lane/receive.cc, on_sent() in core/lane/rendezvous.cc, detach_boxes() in
/// core/lane/boxes.cc.
struct PathParts {
  Receiver& receiver;
  Transfers& transfers;
  Boxes& boxes;
  std::vector<Path*>& broken;  // down, and to be cleared away between calls into transports
};

/// How data of large messages travels where a transport can both copy and expose it.
enum class Copies : std::uint8_t { kMeasured, kOnce, kTwice };

class Path final : public EndpointSink {
 public:
  enum class State : std::uint8_t { kHello, kOpen, kDown };

  Path(const PathParts& parts, TransportSlot& its_slot, std::unique_ptr<Endpoint> its_endpoint,
       bool is_dialled, TimeNs hello_deadline)
      : slot(its_slot),
        endpoint(std::move(its_endpoint)),
        deadline(hello_deadline),
        dialled(is_dialled),
        keeps(its_slot.caps.keeps),
        parts_(parts) {
    endpoint->attach(*this);
  }
  ~Path() { detach_boxes(); }
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;

  bool is_wanted(Bytes header) noexcept override;
  MutableBytes on_place(Bytes header, std::size_t payload_bytes,
                        bool to_be_checked) noexcept override;
  void on_frame(Bytes header, Bytes payload) noexcept override;
  void on_sent(std::uint64_t cookie) noexcept override;
  void on_down(const Error& why) noexcept override;

  /// Marks it broken for a reason of our own: a protocol error, silence, an order to close.
  void break_down(Error why) noexcept {
    if (down_reason.has_value()) return;
    down_reason = std::move(why);
    was_open = open();
    state = State::kDown;
    detach_boxes();
    parts_.broken.push_back(this);
  }
  /// Closed in good order (by a switch).
  void close() noexcept {
    closing = true;
    break_down({Errc::kCancelled, "closed by order"});
  }

  bool open() const noexcept { return state == State::kOpen; }
  /// Placed data may go either way, and which is better is measured.
  bool measures_copies() const noexcept {
    return copies == Copies::kMeasured && slot.caps.zero_copy_bytes_min != 0;
  }
  /// Dialled by this end, and not open yet.
  bool being_dialled() const noexcept { return dialled && state == State::kHello; }
  bool down() const noexcept { return state == State::kDown; }
  /// Nothing that we sent can still be on its way: our marker is acknowledged, nothing is posted.
  bool emptied() const noexcept {
    return marker.acked() && endpoint->in_flight() == 0 && posted.empty();
  }

  /// The peer does not use the path, so it may be closed: both ends have left it by markers that
  /// came; or no ordered frame of the peer's has come on it, and the peer keeps what it may have
  /// sent.
  bool given_up() const noexcept {
    if (marker.peer_left()) return emptied() && marker.answer_due() == 0;
    return keeps && !marker.peer_sends();
  }

  /// All acknowledgements of received data that we sent on the path are known to have come: the
  /// peer has acknowledged our marker, and none was sent after it.
  bool told_for_sure() const noexcept {
    return marker.both_left() && marker.answer_due() == 0 && !told_behind_marker;
  }

  double striped_share() const noexcept { return static_cast<double>(striped_bytes) / weight; }

  TransportSlot& slot;
  std::unique_ptr<Endpoint> endpoint;
  Peer* peer = nullptr;                  // null until the hello says who it is
  std::unique_ptr<Handshake> handshake;  // until open
  std::optional<Blob> hello_out;         // a hello message that waits to be posted
  std::uint64_t id = 0;                  // drawn by the dialler; the pair's name for this path
  std::uint64_t peer_next = 0;           // what the peer expected next when the path opened
  std::uint64_t send_path_since = 0;     // our next number when it became the send path
  std::uint32_t told_addresses = 0;      // the version of our addresses in our hello
  bool told_behind_marker = false;       // an acknowledgement was sent after a marker of ours
  TimeNs deadline = 0;                   // of the hello
  TimeNs heard = 0;                      // last sign of life (looked for at housekeeping)
  std::uint64_t signs_seen = 0;          // ... and the number of such signs then
  std::uint64_t round_frames = 0;        // the count at the last round of Probes
  TimeNs probed = 0;                     // when the probe was posted, or wanted; 0: none out
  bool probe_unposted = false;           // ... and is still wanted
  bool excused = false;                  // its deadline was postponed: nobody had looked for long
  bool awaited = false;                  // at the last look: the peer should say something on it
  // Transfers with data, or an exposed offer, posted and not yet on_sent, in order.
  std::deque<std::uint64_t> posted;
  std::uint64_t sent = 0;             // how often on_sent() was called
  std::uint32_t given_up_posted = 0;  // nobody waits until the peer has looked at these
  std::uint64_t striped_bytes = 0;    // placed data since the bulk paths last changed
  std::uint32_t weight = 1;           // share of placed data
  Copies copies = Copies::kOnce;      // how placed data goes, where the transport has both ways
  // The fragment that the transport is reading straight into this transfer's buffer (rendezvous.h).
  std::uint64_t placing = 0;  // 0: none
  std::uint64_t placing_begin = 0;
  std::uint64_t placing_end = 0;
  TimeNs placing_since = 0;  // 0: it is not timed
  // An exposed offer whose bytes are about to be read: its number (0: none), and our transfer.
  std::uint64_t reading_seq = 0;
  std::uint64_t reading = 0;
  FastBox* box = nullptr;  // while open, if the endpoint has one
  BoxWriter box_writer;
  BoxReader box_reader;
  std::uint8_t box_notes = 0;     // to be posted, a bit for each BoxNote
  bool bulk_busy = false;         // answered kRetry in this round
  std::uint64_t bulk_awaits = 0;  // takes no more data before on_sent() was called so often
  bool ticket_taken = false;      // path dialled by tickets: the peer's ticket has come
  RefuseReason refusal = RefuseReason::kNone;
  std::optional<Error> down_reason;
  State state = State::kHello;
  const bool dialled;
  const bool keeps;
  // May be sent on. An accepted path that does not keep waits for a frame of the dialler's: until
  // then the dialler may still give it up for another one, and nothing must be lost with it.
  bool confirmed = false;
  bool was_open = false;  // before it went down
  Marker marker;
  bool said_goodbye = false;
  bool closing = false;  // closed by order: its end is no loss
  bool probe_due = false;
  bool answer_due = false;   // the peer probes this path: frames on another one do not answer
  ProcessId admitted_for{};  // whose ticket it was accepted by, until a good hello
  bool losses_due = false;   // the peer is to be told on it which paths are lost (Peer::lost_paths)

 private:
  void detach_boxes() noexcept;

  const PathParts parts_;
};

/// Takes a path out of its owner's list; null: it is not there.
inline std::unique_ptr<Path> take_out(std::vector<std::unique_ptr<Path>>& paths,
                                      const Path& path) noexcept {
  const auto found = std::ranges::find(paths, &path, &std::unique_ptr<Path>::get);
  if (found == paths.end()) return nullptr;
  std::unique_ptr<Path> taken = std::move(*found);
  paths.erase(found);
  return taken;
}

}  // namespace livebtl::core
