// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/tcp/relay.h -- a man in the middle on loopback, and a stranger; both driven
// by the test's thread.
#pragma once

#include <sys/socket.h>

#include <functional>
#include <vector>

#include "base/fd.h"
#include "transports/tcp/tcp_address.h"
#include "transports/tcp/tcp_interfaces.h"

namespace livebtl::tcp::kit {

/// A listening socket on 127.0.0.1 at any port.
class Listener {
 public:
  Listener();
  SocketAddress where() const noexcept { return where_; }
  /// A connection that has arrived, if any.
  Fd accept() const noexcept;

 private:
  Fd fd_;
  SocketAddress where_;
};

/// Passes bytes between whoever connects to it and `target`, and may alter or cut them.
class Relay {
 public:
  explicit Relay(SocketAddress target) : target_(target) {}

  /// What peers are told to connect to.
  Blob contact() const;
  void turn();
  /// Tears down every connection at once, by resets.
  void cut();
  std::size_t connections() const noexcept { return pairs_.size(); }

  /// Called for each passing byte: direction (0: from the dialler), its position in that direction,
  /// the byte.
  std::function<void(int direction, std::size_t position, std::byte& byte)> alter;

 private:
  struct Way {
    std::size_t position = 0;
    Blob waiting;
    bool ended = false;
  };
  struct Pair {
    Fd ends[2];  // 0: dialler, 1: target
    Way ways[2];
    bool over = false;
  };
  void pass(Pair& pair, int direction);

  Listener listener_;
  SocketAddress target_;
  std::vector<Pair> pairs_;
};

/// An address where nobody listens.
inline SocketAddress dead_end() {
  const Listener gone;
  return gone.where();
}

/// An address as a peer of that node would tell it.
inline Blob address_of(const std::vector<SocketAddress>& sockets, std::uint64_t node) {
  Reachable reachable;
  reachable.network = network_hash();
  reachable.node = node;
  reachable.sockets = sockets;
  return encode_address(reachable);
}

/// A raw connection, driven by the test.
class Stranger {
 public:
  explicit Stranger(const SocketAddress& to);
  void say(Bytes bytes) const;
  /// Has the other side closed?
  bool is_closed();
  std::size_t heard() const noexcept { return heard_; }

 private:
  Fd fd_;
  std::size_t heard_ = 0;
  bool closed_ = false;
};

}  // namespace livebtl::tcp::kit
