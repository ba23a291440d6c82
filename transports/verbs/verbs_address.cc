// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_address.cc -- see verbs_address.h.
#include "transports/verbs/verbs_address.h"

#include <arpa/inet.h>

#include <algorithm>

namespace livebtl::verbs {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kVersionOfSeveral = 2;   // an address with a nearness
constexpr std::byte kNoNearness{0x80};          // in the fabric byte of a version 2 contact
constexpr std::uint32_t kNumberMax = 0xffffff;  // queue pair and packet numbers have 24 bits
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

std::uint32_t cost_of(const Nearness& one, const Nearness& other) noexcept {
  constexpr std::uint32_t kPlaces = 2 * 256;
  return (std::uint32_t{one.distance} + other.distance) * kPlaces + one.place + other.place;
}

Blob encode_address(const PortAddress& address, const std::optional<Nearness>& nearness) {
  ByteWriter writer;
  writer.put(nearness ? kVersionOfSeveral : kVersion);
  put(writer, address);
  if (nearness) writer.put(nearness->distance);
  if (nearness) writer.put(nearness->place);
  return writer.take();
}

Blob encode_contact(const PortAddress& address, bool of_several) {
  Blob contact = encode_address(address);
  if (of_several) {
    contact[0] = std::byte{kVersionOfSeveral};
    contact[1] |= kNoNearness;
  }
  return contact;
}

Result<PortAddress> decode_address(Bytes bytes) {
  const auto version = bytes.empty() ? std::uint8_t{0} : std::to_integer<std::uint8_t>(bytes[0]);
  if (version != kVersion && version != kVersionOfSeveral) {
    return fail(Errc::kInvalid,
                "verbs: an address of unknown version; do all processes run the same livebtl?");
  }
  // A truncated address is not a contact: contacts are marked.
  std::array<std::byte, kAddressBytes> head{};
  std::copy_n(bytes.begin(), std::min(bytes.size(), head.size()), head.begin());
  const bool contact = bytes.size() == kAddressBytes && (head[1] & kNoNearness) == kNoNearness;
  if (version == kVersionOfSeveral && contact) head[1] ^= kNoNearness;
  const bool near = version == kVersionOfSeveral && !contact;
  ByteReader reader(head);
  reader.take<std::uint8_t>();
  PortAddress address;
  const std::size_t bytes_wanted = kAddressBytes + (near ? sizeof(Nearness) : 0);
  if (!take(reader, address) || bytes.size() != bytes_wanted)
    return fail(Errc::kInvalid, "verbs: malformed address");
  return address;
}

std::optional<Nearness> nearness_in(Bytes bytes) noexcept {
  if (bytes.size() != kAddressBytes + 2) return std::nullopt;
  return Nearness{std::to_integer<std::uint8_t>(bytes[kAddressBytes]),
                  std::to_integer<std::uint8_t>(bytes[kAddressBytes + 1])};
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
