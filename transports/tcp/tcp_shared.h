// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_shared.h -- what the endpoints of one transport have in common. Owned by the
// transport, which outlives them; all under the engine's lock.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "base/log.h"
#include "base/settings.h"
#include "transports/tcp/tcp_framer.h"
#include "transports/tcp/tcp_out_queue.h"
#include "transports/tcp/tcp_poller.h"
#include "transports/tcp/tcp_socket.h"

namespace livebtl::tcp {

class TcpEndpoint;

/// Memory that endpoints borrow while they have bytes to hold, so that an idle connection costs
/// none. Blocks are handed out uninitialised. T: trivially constructible.
template <class T>
class Pool {
 public:
  using Lease = std::unique_ptr<T>;

  Lease take() {
    if (free_.empty()) return Lease(new T);  // not make_unique: that would clear it
    Lease block = std::move(free_.back());
    free_.pop_back();
    return block;
  }
  void put(Lease block) {
    if (block && free_.size() < kFreeMax) free_.push_back(std::move(block));
  }

 private:
  static constexpr std::size_t kFreeMax = 8;
  std::vector<Lease> free_;
};

/// Endpoints in some state. May change during a walk: what is removed is no longer visited, what is
/// added only by the next walk.
class Roster {
 public:
  void add(TcpEndpoint& endpoint) { items_.push_back(&endpoint); }
  void remove(const TcpEndpoint& endpoint) noexcept;
  bool empty() const noexcept { return count() == 0; }
  std::size_t count() const noexcept { return items_.size() - holes_; }

  template <class Call>
  void walk(Call call) {
    const std::size_t end = items_.size();
    ++walks_;
    for (std::size_t i = 0; i < end; ++i) {
      if (items_[i] != nullptr) call(*items_[i]);
    }
    if (--walks_ == 0 && holes_ != 0) close_holes();
  }

 private:
  void close_holes() noexcept;

  std::vector<TcpEndpoint*> items_;
  std::size_t holes_ = 0;
  unsigned walks_ = 0;
};

/// How many connections may be accepted: in the long run only those that prove nothing count.
/// Faster arrivals wait in the kernel, so that a flood takes a small part of the time that members'
/// traffic needs.
class Allowance {
 public:
  static constexpr TimeNs kMost = 512;
  static constexpr TimeNs kEach = 2 * kMillisecond;  // for one more to be allowed

  bool any(TimeNs now) noexcept {
    const TimeNs more = (now - since_) / kEach;
    if (left_ == kMost || more > 0) {
      left_ = std::min(kMost, left_ + std::max<TimeNs>(more, 0));
      since_ = now;
    }
    return left_ > 0;
  }
  void spend() noexcept { --left_; }
  /// A connection has proved itself.
  void give_back() noexcept { left_ = std::min(kMost, left_ + 1); }

 private:
  TimeNs left_ = kMost;
  TimeNs since_ = 0;
};

struct Shared {
  Poller poller;
  Pool<InBlock> in_blocks{};
  Pool<OutBlock> out_blocks{};
  Roster open{};      // connected
  Roster dialling{};  // not yet
  Roster
      waiting{};  // has something to do that no socket shows: bytes not parsed, a loss not reported
  core::Pace pace{};
  std::size_t backlogged = 0;  // endpoints with bytes that wait for room in the socket
  Allowance allowance{};
  std::size_t untrusted = 0;  // accepted connections that have not proved anything yet
  LogLimit unauthenticated{};
  std::uint64_t node = 0;
  CrcMode crc = CrcMode::kNetwork;
  SocketOptions options{};
};

/// Logs what an unauthenticated connection did, but only now and then, whatever others do.
void log_unauthenticated(Shared& shared, TimeNs now, const std::string& who,
                         const std::string& what);

}  // namespace livebtl::tcp
