// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_address.h -- the fabric of a verbs port, the tickets that connect two
// queue pairs, and the location of a buffer that the peer's device is to read; as values and as
// bytes (docs/WIRE.md, "verbs"). Pure: no I/O.
//
// Hostile input: every byte is checked.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "transports/messages/exposed.h"

namespace livebtl::verbs {

using messages::Kind;
using messages::kPayloadBytesMax;
using messages::Message;

/// As on the wire, first byte first.
using Gid = std::array<std::byte, 16>;

enum class Fabric : std::uint8_t { kInfiniBand = 1, kRoceV2 = 2, kRoceV1 = 3 };

/// Which RoCE ports can talk: an IPv4 address to IPv4, a global IPv6 to global, a link-local to
/// link-local.
enum class GidScope : std::uint8_t { kV4 = 0, kGlobal = 1, kLinkLocal = 2 };
GidScope scope_of(const Gid& gid) noexcept;
/// "10.0.1.2", "fe80::5054:ff:fe00:101".
std::string to_text(const Gid& gid);

struct PortAddress {
  Fabric fabric{};
  std::uint16_t lid = 0;  // InfiniBand: not 0. RoCE: 0
  Gid gid{};
  friend bool operator==(const PortAddress&, const PortAddress&) = default;
};
inline constexpr std::size_t kAddressBytes = 20;

/// How a process with several modules ranks one of them: lower is better.
struct Nearness {
  std::uint8_t distance = 0;  // from its device to the process's processors, in ACPI's units
  std::uint8_t place = 0;     // in the list of devices
  friend bool operator==(const Nearness&, const Nearness&) = default;
};
static_assert(sizeof(Nearness) == 2);
/// Both ends of a pair get the same cost from their nearness to a module; distance counts first.
std::uint32_t cost_of(const Nearness& one, const Nearness& other) noexcept;

/// Symmetric. InfiniBand: within a subnet. The route to another begins at a router, whose LID we
/// would have to ask a subnet manager for.
bool may_reach(const PortAddress& one, const PortAddress& other) noexcept;

/// nearness: if one of several modules.
Blob encode_address(const PortAddress& address, const std::optional<Nearness>& nearness = {});
/// As encode_address(), without the nearness, and marked as such.
Blob encode_contact(const PortAddress& address, bool of_several);
/// Takes either. Errors: kInvalid.
Result<PortAddress> decode_address(Bytes bytes);
/// bytes: accepted by decode_address(). none: a contact, or its process's only module.
std::optional<Nearness> nearness_in(Bytes bytes) noexcept;

/// What one end of a connection must know of the other.
struct Ticket {
  PortAddress port;
  std::uint32_t queue_pair = 0;    // number, 24 bits, not 0
  std::uint32_t first_packet = 0;  // its first packet sequence number, 24 bits
  std::uint32_t credits = 0;       // messages that this end accepts at first
  std::uint32_t payload_bytes_max = 0;
  std::uint64_t node = 0;  // hash of the node identity
  std::uint8_t mtu = 0;    // an ibv_mtu: 1 (256 bytes) to 5 (4096)
  friend bool operator==(const Ticket&, const Ticket&) = default;
};

Blob encode_ticket(const Ticket& ticket);
/// Errors: kInvalid, with the reason.
Result<Ticket> decode_ticket(Bytes bytes);

struct RemoteBuffer {
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::uint32_t bytes = 0;
  std::uint32_t crc_given = 0;  // 1: `crc` is the payload's CRC32C
  std::uint32_t crc = 0;
};
static_assert(sizeof(RemoteBuffer) == 24);

}  // namespace livebtl::verbs
