// SPDX-License-Identifier: BSD-3-Clause
// core/lane/tx_lane.h -- the sending half of a peer's ordered lane: numbers, what waits, what is kept, and
// the credit that the peer has given. Under the engine's lock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "core/engine/config.h"
#include "core/lane/frame.h"
#include "core/lane/out_frame.h"
#include "core/lane/window.h"
#include "core/path/fast_box.h"

namespace livebtl::core {

/// The sending half of the ordered lane.
struct alignas(64) TxLane {
  // Touched by a small message into the peer's fast box: one line.
  std::uint64_t next_seq = 1;
  std::uint64_t used_bytes = 0, used_headers = 0;  // credit: cumulative since the pair began
  std::uint64_t messages_sent = 0;
  Lease lease;
  std::uint64_t acked = 1;       // the peer has taken all below
  std::uint64_t replay_seq = 0;  // [replay_seq, replay_end) is sent again before anything new
  std::uint64_t replay_end = 0;
  // Until the peer has taken all below moved_at, this much on another path may overtake it.
  std::size_t overtake_bytes = SIZE_MAX;  // SIZE_MAX: nothing can be overtaken
  std::uint64_t moved_at = 0;
  std::unique_ptr<Window> window;  // made when the first keeping path opens
  FrameQueue control;              // answers; wait for nothing, and pass all others
  FrameQueue requests;             // wait while too many are open; messages may pass them
  FrameQueue messages;
  std::uint64_t released_bytes = 0, released_headers = 0;
  std::uint32_t credit_bytes = 0, credit_headers = 0;  // the peer's limits, from its hello
  std::uint32_t open_requests = 0;                     // posted, and not answered
  // next_seq when a message first lacked byte credit since any last came; 0: none has.
  std::uint64_t short_since = 0;
  // Id of the path on which credit was asked for since any last came; 0: none.
  std::uint64_t asked_on = 0;

  /// The number after the last frame, were all waiting ones numbered now.
  std::uint64_t end() const noexcept {
    return next_seq + control.count() + requests.count() + messages.count();
  }
  /// Nothing that messages wait behind; requests do not count.
  bool idle() const noexcept {
    return control.empty() && messages.empty() && replay_seq >= replay_end;
  }
  bool has_header_credit() const noexcept {
    return used_headers - released_headers < credit_headers;
  }
  bool has_credit(std::size_t bytes) const noexcept {
    return has_header_credit() && used_bytes + bytes - released_bytes <= credit_bytes;
  }
  /// The send path has been left. However often a pair moves while one of its paths is stuck, the
  /// peer holds no more early bytes than after one move.
  void on_moved() noexcept {
    if (acked >= next_seq) return;
    moved_at = next_seq;
    if (overtake_bytes == SIZE_MAX) overtake_bytes = kOvertakeBytesMax;
  }
  /// What the first waiting message may do. Without byte credit it is offered only once the peer
  /// has taken all that is on its way and still given none back: an offer costs three more frames.
  enum class Admission : std::uint8_t { kGo, kOffer, kAskFirst, kWait };
  Admission admit(OutFrame& frame, std::size_t eager_bytes_max) const noexcept {
    if (!has_header_credit()) return Admission::kWait;
    const FrameKind kind = frame.head().kind;
    if (kind == FrameKind::kRts) return Admission::kGo;
    const bool may_be_offered = kind == FrameKind::kEager && frame.operation != nullptr;
    if (may_be_offered && frame.payload_bytes > eager_bytes_max) return Admission::kOffer;
    if (has_credit(frame.payload_bytes)) return Admission::kGo;
    if (!may_be_offered) return Admission::kWait;
    return acked >= (short_since != 0 ? short_since : next_seq) ? Admission::kOffer
                                                                : Admission::kAskFirst;
  }
  /// Messages wait until the peer has received some earlier ones.
  bool out_of_credit() const noexcept {
    OutFrame* const frame = messages.first;
    return frame != nullptr && admit(*frame, SIZE_MAX) == Admission::kWait;
  }
  void on_credit(std::uint64_t bytes, std::uint64_t headers) noexcept {
    if (bytes > released_bytes) short_since = 0;
    if (bytes > released_bytes || headers > released_headers) asked_on = 0;
    released_bytes = std::max(released_bytes, bytes);
    released_headers = std::max(released_headers, headers);
  }
  /// The peer has taken all numbers below ack.
  void on_acked(std::uint64_t ack) noexcept {
    acked = ack;
    if (overtake_bytes != SIZE_MAX && ack >= moved_at) [[unlikely]]
      overtake_bytes = SIZE_MAX;
  }
  bool has_request_room() const noexcept {
    return open_requests < std::min(credit_headers, kOpenRequestsMax);
  }
};

}  // namespace livebtl::core
