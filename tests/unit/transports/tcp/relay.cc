// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/tcp/relay.cc -- see relay.h.
#include "tests/unit/transports/tcp/relay.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>

#include "transports/tcp/tcp_interfaces.h"
#include "transports/tcp/tcp_socket.h"

namespace livebtl::tcp::kit {
namespace {

/// Connects to a listener on loopback, at once.
Fd connect_to(const SocketAddress& to) {
  Fd fd(::socket(is_v4(to.ip) ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(fd);
  const RawAddress raw = to_raw(to);
  REQUIRE(::connect(fd.number(), raw.get(), raw.bytes) == 0);
  return fd;
}

void reset_connection(Fd& fd) {
  const linger at_once{1, 0};
  ::setsockopt(fd.number(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  fd.reset();
}

}  // namespace

Listener::Listener() {
  auto fd = listen_at(*parse_ip("127.0.0.1"), 0, {});
  REQUIRE(fd.has_value());
  fd_ = std::move(*fd);
  where_ = *local_end(fd_.number());
}

Fd Listener::accept() const noexcept {
  return Fd(::accept4(fd_.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

Blob Relay::contact() const {
  Reachable reachable;
  reachable.network = network_hash();
  reachable.sockets.push_back(listener_.where());
  return encode_contact(reachable);
}

void Relay::turn() {
  while (Fd fd = listener_.accept()) {
    Pair pair;
    pair.ends[0] = std::move(fd);
    pair.ends[1] = connect_to(target_);
    pairs_.push_back(std::move(pair));
  }
  for (Pair& pair : pairs_) {
    pass(pair, 0);
    if (!pair.over) pass(pair, 1);
  }
  pairs_.erase(
      std::remove_if(pairs_.begin(), pairs_.end(), [](const Pair& pair) { return pair.over; }),
      pairs_.end());
}

void Relay::pass(Pair& pair, int direction) {
  Way& way = pair.ways[direction];
  const int from = pair.ends[direction].number();
  const int to = pair.ends[1 - direction].number();
  if (way.waiting.empty()) {
    way.waiting.resize(64u << 10);
    const ssize_t count = ::recv(from, way.waiting.data(), way.waiting.size(), MSG_DONTWAIT);
    way.ended = count == 0 || (count < 0 && errno != EAGAIN);
    way.waiting.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    for (std::byte& byte : way.waiting) {
      if (alter) alter(direction, way.position, byte);
      ++way.position;
    }
  }
  if (!way.waiting.empty()) {
    const ssize_t count =
        ::send(to, way.waiting.data(), way.waiting.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count > 0) way.waiting.erase(way.waiting.begin(), way.waiting.begin() + count);
    if (count < 0 && errno != EAGAIN) way.ended = true;
  }
  if (way.ended) pair.over = true;  // both ends close
}

void Relay::cut() {
  for (Pair& pair : pairs_) {
    reset_connection(pair.ends[0]);
    reset_connection(pair.ends[1]);
  }
  pairs_.clear();
}

Stranger::Stranger(const SocketAddress& to) : fd_(connect_to(to)) {}

void Stranger::say(Bytes bytes) const {
  CHECK(::send(fd_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
        static_cast<ssize_t>(bytes.size()));
}

bool Stranger::is_closed() {
  std::array<std::byte, 256> buffer;
  while (!closed_) {
    const ssize_t count = ::recv(fd_.number(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count > 0) heard_ += static_cast<std::size_t>(count);
    if (count < 0 && errno == EAGAIN) break;
    closed_ = count <= 0;
  }
  return closed_;
}

}  // namespace livebtl::tcp::kit
