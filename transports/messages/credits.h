// SPDX-License-Identifier: BSD-3-Clause
// transports/messages/credits.h -- how many messages each peer may send into receive buffers that
// they share. Pure.
//
// A credit guarantees that one message from that peer will find a buffer. The credits granted never
// exceed the buffers, so a receiver is never overrun. Each connection has a floor that no other can
// take from it; the remaining buffers are divided among the open connections: a single one may have
// them all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "transports/messages/message.h"

namespace livebtl::messages {

/// Two are for frames, one for a message that grants credit, and one for BYE, so that two ends that
/// have used up their frames' credit can still grant each other more.
inline constexpr std::uint32_t kCreditFloor = 4;
/// Credit that frames may not use: for a message that grants credit, and for BYE.
inline constexpr std::uint32_t kControlCredit = 2;
/// Buffers beyond the floors.
inline constexpr std::uint32_t kSharedBuffers = 60;

/// The credit needed to send a control message. A report of reads leaves as much as a frame does.
constexpr std::uint32_t credit_for(Kind control) noexcept {
  return control == Kind::kBye ? 1 : control == Kind::kCredit ? kControlCredit : kControlCredit + 1;
}

class Credits {
 public:
  void add_buffers(std::uint32_t count) noexcept { buffers_ += count; }
  /// May one more connection begin? Otherwise add buffers first.
  bool has_room() const noexcept {
    return buffers_ >= kSharedBuffers + (connections_ + 1) * kCreditFloor;
  }

  /// A connection begins. Requires: has_room().
  void enter() noexcept {
    LIVEBTL_ASSERT(has_room(), "a connection's floor is there when it begins");
    ++connections_;
  }
  /// A connection has ended with `open` credits that it will no longer use.
  void leave(std::uint32_t open) noexcept {
    shared_out_ -= beyond_floor(open);
    --connections_;
  }
  /// One of `open` credits was used, and its buffer is free again.
  void used(std::uint32_t& open) noexcept {
    shared_out_ -= beyond_floor(open) - beyond_floor(open - 1);
    --open;
  }
  /// Grants more: up to the floor, plus its share beyond. Returns how many.
  std::uint32_t grant(std::uint32_t& open) noexcept {
    const std::uint32_t before = open;
    open = std::max(open, kCreditFloor);
    const std::uint32_t share = kSharedBuffers / std::max(1U, connections_);
    const std::uint32_t wanted = share - std::min(share, beyond_floor(open));
    const std::uint32_t more = std::min(wanted, kSharedBuffers - shared_out_);
    shared_out_ += more;
    open += more;
    return open - before;
  }

 private:
  static std::uint32_t beyond_floor(std::uint32_t open) noexcept {
    return open - std::min(open, kCreditFloor);
  }

  std::uint32_t buffers_ = 0;
  std::uint32_t connections_ = 0;
  std::uint32_t shared_out_ = 0;  // credits beyond the floors
};

}  // namespace livebtl::messages
