// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_address.cc -- see tcp_address.h.
#include "transports/tcp/tcp_address.h"

#include <arpa/inet.h>

#include <algorithm>

#include "base/assert.h"

namespace livebtl::tcp {
namespace {

constexpr std::uint8_t kVersion = 1;
// The second byte. An address: its count. A contact: this bit and the low bits of the network.
constexpr std::uint8_t kContactBit = 0x80;
constexpr std::uint64_t kShortNetworkMask = 0x7f;

constexpr std::size_t kSocketBytes = 18;  // 16 bytes of address, 2 of port

unsigned byte_at(const IpBytes& ip, std::size_t index) noexcept {
  return std::to_integer<unsigned>(ip[index]);
}

IpBytes map_v4(const in_addr& v4) noexcept {
  IpBytes ip{};
  ip[10] = ip[11] = std::byte{0xff};
  std::memcpy(&ip[12], &v4, sizeof(v4));
  return ip;
}

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

bool is_v4(const IpBytes& ip) noexcept {
  return std::all_of(ip.begin(), ip.begin() + 10, [](std::byte b) { return b == std::byte{0}; }) &&
         ip[10] == std::byte{0xff} && ip[11] == std::byte{0xff};
}

bool is_loopback(const IpBytes& ip) noexcept {
  if (is_v4(ip)) return byte_at(ip, 12) == 127;
  return std::all_of(ip.begin(), ip.begin() + 15, [](std::byte b) { return b == std::byte{0}; }) &&
         ip[15] == std::byte{1};
}

bool is_unicast(const IpBytes& ip) noexcept {
  if (is_v4(ip)) return byte_at(ip, 12) != 0 && byte_at(ip, 12) < 224;
  const bool unspecified = ip == IpBytes{};
  const bool multicast = byte_at(ip, 0) == 0xff;
  const bool link_local = byte_at(ip, 0) == 0xfe && (byte_at(ip, 1) & 0xc0U) == 0x80;
  return !unspecified && !multicast && !link_local;
}

bool same_prefix(const IpBytes& one, const IpBytes& other, unsigned prefix_bits) noexcept {
  const std::size_t whole = prefix_bits / 8;
  if (!std::equal(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(whole), other.begin()))
    return false;
  const unsigned rest = prefix_bits % 8;
  if (rest == 0) return true;
  const unsigned mask = 0xffU << (8 - rest);
  return ((byte_at(one, whole) ^ byte_at(other, whole)) & mask & 0xffU) == 0;
}

std::optional<IpBytes> parse_ip(const std::string& text) {
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) return map_v4(v4);
  IpBytes ip{};
  if (inet_pton(AF_INET6, text.c_str(), ip.data()) == 1) return ip;
  return std::nullopt;
}

std::string to_text(const IpBytes& ip) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool v4 = is_v4(ip);
  inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? &ip[12] : ip.data(), text.data(), text.size());
  return text.data();
}

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
  if (raw == nullptr) return std::nullopt;
  SocketAddress address;
  if (raw->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, raw, sizeof(v4));
    address.ip = map_v4(v4.sin_addr);
    address.port = ntohs(v4.sin_port);
    return address;
  }
  if (raw->sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6{};
  std::memcpy(&v6, raw, sizeof(v6));
  std::memcpy(address.ip.data(), &v6.sin6_addr, address.ip.size());
  address.port = ntohs(v6.sin6_port);
  return address;
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
  for (std::size_t i = 0; i < count; ++i) {
    const auto socket = take_socket(reader);
    if (!socket)
      return fail(Errc::kInvalid, "tcp: malformed address: not an address one can connect to");
    reachable.sockets.push_back(*socket);
  }
  return reachable;
}

}  // namespace livebtl::tcp
