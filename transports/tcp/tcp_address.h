// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_address.h -- where a tcp transport can be reached, as values and as bytes.
// Pure: no I/O.
//
// Two encodings, specified in docs/WIRE.md, "TCP": the address (all socket addresses and who is
// there) goes into hellos; the contact (one socket address) fits into an Address. Both come from
// outside: every byte is checked.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/interfaces.h"
#include "livebtl/result.h"

namespace livebtl::tcp {

using livebtl::to_text;  // of an IP address; below: of a socket

struct SocketAddress {
  IpBytes ip{};
  std::uint16_t port = 0;
  friend bool operator==(const SocketAddress&, const SocketAddress&) = default;
};

/// "10.0.0.1:4242", "[fd00::1]:4242".
std::string to_text(const SocketAddress& address);

/// What the system calls take.
struct RawAddress {
  sockaddr_storage storage{};
  socklen_t bytes = 0;
  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
};
RawAddress to_raw(const SocketAddress& address) noexcept;
/// nullopt: neither IPv4 nor IPv6.
std::optional<SocketAddress> from_raw(const sockaddr* raw) noexcept;

/// All that one transport tells its peers about itself.
struct Reachable {
  std::uint64_t network =
      0;  // hash of the network namespace: equal where loopback leads to the same place
  std::optional<std::uint64_t> node;   // hash of the node identity; nullopt: a contact has none
  bool network_is_short = false;       // a contact has only the network's low bits
  std::vector<SocketAddress> sockets;  // [1..kSocketsMax]
};
inline constexpr std::size_t kSocketsMax = 16;
inline constexpr std::size_t kContactBytes = 20;

bool same_network(const Reachable& one, const Reachable& other) noexcept;

/// Requires: 1..kSocketsMax sockets and a node.
Blob encode_address(const Reachable& reachable);
/// Only the first socket.
Blob encode_contact(const Reachable& reachable);
/// Either encoding. Errors: kInvalid, with what is wrong.
Result<Reachable> decode_address(Bytes bytes);

}  // namespace livebtl::tcp
