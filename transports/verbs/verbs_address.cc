// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_address.cc -- see verbs_address.h.
#include "transports/verbs/verbs_address.h"

#include <arpa/inet.h>

#include <algorithm>

namespace livebtl::verbs {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::uint32_t kNumberMax = 0xffffff;  // queue pairs and packets are counted in 24 bits
constexpr std::uint32_t kCreditsMax = 1u << 16;
constexpr std::uint8_t kMtuMin = 1, kMtuMax = 5;

unsigned byte_at(const Gid& gid, std::size_t index) noexcept {
  return std::to_integer<unsigned>(gid[index]);
}

bool is_v4(const Gid& gid) noexcept {
  return std::all_of(gid.begin(), gid.begin() + 10,
                     [](std::byte b) { return b == std::byte{0}; }) &&
         byte_at(gid, 10) == 0xff && byte_at(gid, 11) == 0xff;
}

bool same_subnet(const Gid& one, const Gid& other) noexcept {
  return std::equal(one.begin(), one.begin() + 8, other.begin());
}

bool is_unicast(const Gid& gid) noexcept {
  if (is_v4(gid)) return byte_at(gid, 12) != 0 && byte_at(gid, 12) < 224;
  return gid != Gid{} && byte_at(gid, 0) != 0xff;
}

void put(ByteWriter& writer, const PortAddress& address) {
  writer.put(address.fabric);
  writer.put(address.lid);
  writer.put(address.gid);
}

bool take(ByteReader& reader, PortAddress& address) noexcept {
  address.fabric = reader.take<Fabric>();
  address.lid = reader.take<std::uint16_t>();
  address.gid = reader.take<Gid>();
  const bool infiniband = address.fabric == Fabric::kInfiniBand;
  const bool known =
      infiniband || address.fabric == Fabric::kRoceV2 || address.fabric == Fabric::kRoceV1;
  return reader.ok() && known && infiniband == (address.lid != 0) && is_unicast(address.gid);
}

}  // namespace

GidScope scope_of(const Gid& gid) noexcept {
  if (is_v4(gid)) return GidScope::kV4;
  const bool link_local = byte_at(gid, 0) == 0xfe && (byte_at(gid, 1) & 0xc0U) == 0x80;
  return link_local ? GidScope::kLinkLocal : GidScope::kGlobal;
}

std::string to_text(const Gid& gid) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool v4 = is_v4(gid);
  inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? &gid[12] : gid.data(), text.data(), text.size());
  return text.data();
}

bool may_reach(const PortAddress& one, const PortAddress& other) noexcept {
  if (one.fabric != other.fabric) return false;
  return one.fabric == Fabric::kInfiniBand ? same_subnet(one.gid, other.gid)
                                           : scope_of(one.gid) == scope_of(other.gid);
}

Blob encode_address(const PortAddress& address) {
  ByteWriter writer;
  writer.put(kVersion);
  put(writer, address);
  return writer.take();
}

Result<PortAddress> decode_address(Bytes bytes) {
  ByteReader reader(bytes);
  PortAddress address;
  if (reader.take<std::uint8_t>() != kVersion) {
    return fail(Errc::kInvalid,
                "verbs: an address of unknown version; do all processes run the same livebtl?");
  }
  if (!take(reader, address) || !reader.finished())
    return fail(Errc::kInvalid, "verbs: malformed address");
  return address;
}

Blob encode_ticket(const Ticket& ticket) {
  ByteWriter writer;
  writer.put(kVersion);
  put(writer, ticket.port);
  writer.put(ticket.queue_pair);
  writer.put(ticket.first_packet);
  writer.put(ticket.credits);
  writer.put(ticket.payload_bytes_max);
  writer.put(ticket.node);
  writer.put(ticket.mtu);
  return writer.take();
}

Result<Ticket> decode_ticket(Bytes bytes) {
  ByteReader reader(bytes);
  Ticket ticket;
  if (reader.take<std::uint8_t>() != kVersion) {
    return fail(Errc::kInvalid,
                "verbs: a ticket of unknown version; do all processes run the same livebtl?");
  }
  const bool port = take(reader, ticket.port);
  ticket.queue_pair = reader.take<std::uint32_t>();
  ticket.first_packet = reader.take<std::uint32_t>();
  ticket.credits = reader.take<std::uint32_t>();
  ticket.payload_bytes_max = reader.take<std::uint32_t>();
  ticket.node = reader.take<std::uint64_t>();
  ticket.mtu = reader.take<std::uint8_t>();
  const bool numbers = ticket.queue_pair != 0 && ticket.queue_pair <= kNumberMax &&
                       ticket.first_packet <= kNumberMax && ticket.credits <= kCreditsMax &&
                       ticket.mtu >= kMtuMin && ticket.mtu <= kMtuMax;
  if (!port || !numbers || !reader.finished())
    return fail(Errc::kInvalid, "verbs: malformed ticket");
  return ticket;
}

}  // namespace livebtl::verbs
