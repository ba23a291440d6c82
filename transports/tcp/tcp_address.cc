// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_address.cc -- see tcp_address.h.
#include "transports/tcp/tcp_address.h"

#include <arpa/inet.h>

#include <cstring>

#include "base/assert.h"

namespace livebtl::tcp {
namespace {

constexpr std::uint8_t kVersion = 1;
// The second byte. An address: its count. A contact: this bit and the low bits of the network.
constexpr std::uint8_t kContactBit = 0x80;
constexpr std::uint64_t kShortNetworkMask = 0x7f;

constexpr std::size_t kSocketBytes = 18;  // 16 bytes of address, 2 of port

std::optional<SocketAddress> take_socket(ByteReader& reader) noexcept {
  SocketAddress socket;
  socket.ip = reader.take<IpBytes>();
  socket.port = reader.take<std::uint16_t>();
  if (!reader.ok() || socket.port == 0 || !is_unicast(socket.ip)) return std::nullopt;
  return socket;
}

Result<Reachable> decode_contact(std::uint8_t form, ByteReader reader) {
  Reachable reachable;
  reachable.network = form & kShortNetworkMask;
  reachable.network_is_short = true;
  const auto socket = take_socket(reader);
  if (!socket || !reader.finished()) {
    return fail(Errc::kInvalid,
                "tcp: malformed contact; was it made by another version of livebtl?");
  }
  reachable.sockets.push_back(*socket);
  return reachable;
}

}  // namespace

std::string to_text(const SocketAddress& address) {
  const std::string ip = to_text(address.ip);
  return (is_v4(address.ip) ? ip : "[" + ip + "]") + ":" + std::to_string(address.port);
}

RawAddress to_raw(const SocketAddress& address) noexcept {
  RawAddress raw;
  if (is_v4(address.ip)) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(address.port);
    std::memcpy(&v4.sin_addr, &address.ip[12], sizeof(v4.sin_addr));
    std::memcpy(&raw.storage, &v4, sizeof(v4));
    raw.bytes = sizeof(v4);
    return raw;
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(address.port);
  std::memcpy(&v6.sin6_addr, address.ip.data(), address.ip.size());
  std::memcpy(&raw.storage, &v6, sizeof(v6));
  raw.bytes = sizeof(v6);
  return raw;
}

std::optional<SocketAddress> from_raw(const sockaddr* raw) noexcept {
  const auto ip = ip_of(raw);
  if (!ip) return std::nullopt;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  const bool is_short = raw->sa_family == AF_INET;
  std::memcpy(is_short ? static_cast<void*>(&v4) : &v6, raw, is_short ? sizeof v4 : sizeof v6);
  return SocketAddress{*ip, ntohs(is_short ? v4.sin_port : v6.sin6_port)};
}

bool same_network(const Reachable& one, const Reachable& other) noexcept {
  const bool low_bits_only = one.network_is_short || other.network_is_short;
  return low_bits_only ? (one.network & kShortNetworkMask) == (other.network & kShortNetworkMask)
                       : one.network == other.network;
}

Blob encode_address(const Reachable& reachable) {
  LIVEBTL_ASSERT(
      !reachable.sockets.empty() && reachable.sockets.size() <= kSocketsMax && reachable.node,
      "an address has a node and 1..kSocketsMax sockets");
  ByteWriter writer;
  writer.put(kVersion);
  writer.put(static_cast<std::uint8_t>(reachable.sockets.size()));
  writer.put(reachable.network);
  writer.put(*reachable.node);
  for (const SocketAddress& socket : reachable.sockets) {
    writer.put(socket.ip);
    writer.put(socket.port);
  }
  return writer.take();
}

Blob encode_contact(const Reachable& reachable) {
  LIVEBTL_ASSERT(!reachable.sockets.empty(), "a contact has a socket");
  ByteWriter writer;
  writer.put(kVersion);
  writer.put(static_cast<std::uint8_t>(kContactBit | (reachable.network & kShortNetworkMask)));
  writer.put(reachable.sockets.front().ip);
  writer.put(reachable.sockets.front().port);
  return writer.take();
}

Result<Reachable> decode_address(Bytes bytes) {
  ByteReader reader(bytes);
  const auto version = reader.take<std::uint8_t>();
  const auto form = reader.take<std::uint8_t>();
  if (!reader.ok() || version != kVersion) {
    return fail(Errc::kInvalid,
                "tcp: an address of unknown version; do all processes run the same livebtl?");
  }
  if ((form & kContactBit) != 0) return decode_contact(form, reader);
  Reachable reachable;
  const std::size_t count = form;
  reachable.network = reader.take<std::uint64_t>();
  reachable.node = reader.take<std::uint64_t>();
  if (!reader.ok() || count == 0 || count > kSocketsMax ||
      reader.rest().size() != count * kSocketBytes) {
    return fail(Errc::kInvalid, "tcp: malformed address: its length does not fit its count");
  }
  reachable.sockets.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto socket = take_socket(reader);
    if (!socket)
      return fail(Errc::kInvalid, "tcp: malformed address: not an address one can connect to");
    reachable.sockets.push_back(*socket);
  }
  return reachable;
}

}  // namespace livebtl::tcp
