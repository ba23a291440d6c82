// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_address.h -- the provider beneath an ofi transport, the tickets that connect
// two ends, the prefix of every message, and the location of a buffer that the peer is to read; as
// values and as bytes (docs/WIRE.md, "ofi"). Pure: no I/O.
//
// Hostile input: every byte is checked.
#pragma once

#include <string_view>

#include "transports/messages/exposed.h"

namespace livebtl::ofi {

struct ProviderAddress {
  std::uint64_t provider = 0;  // hash of its name and of the form of its addresses
  std::uint64_t node = 0;      // hash of the node identity; 0: the provider reaches other nodes
  friend bool operator==(const ProviderAddress&, const ProviderAddress&) = default;
};
std::uint64_t hash_of_provider(std::string_view name, std::uint32_t address_format) noexcept;
/// Symmetric.
bool may_reach(const ProviderAddress& one, const ProviderAddress& other) noexcept;

Blob encode_address(const ProviderAddress& address);
/// Errors: kInvalid.
Result<ProviderAddress> decode_address(Bytes bytes);

/// In the provider's format.
inline constexpr std::size_t kNameBytesMax = 80;

/// What one end of a connection must know of the other.
struct Ticket {
  ProviderAddress address;
  std::uint64_t token = 0;    // random, not 0: messages to this end carry it
  std::uint32_t credits = 0;  // messages that this end accepts at first
  std::uint32_t payload_bytes_max = 0;
  std::uint64_t node = 0;  // hash of the node identity
  Blob name;               // of its libfabric endpoint, 1 to kNameBytesMax bytes
  friend bool operator==(const Ticket&, const Ticket&) = default;
};

Blob encode_ticket(const Ticket& ticket);
/// Errors: kInvalid, with the reason.
Result<Ticket> decode_ticket(Bytes bytes);

/// First in every message. One libfabric endpoint serves all connections and may hand on later
/// messages first, so each message carries its receiver's token and its number.
struct Route {
  std::uint64_t to = 0;      // the receiver's token
  std::uint32_t number = 0;  // messages that this sender sent before; may wrap
  std::uint32_t reserved = 0;
};
static_assert(sizeof(Route) == 16);

struct RemoteBuffer {
  std::uint64_t address = 0;  // in the provider's terms
  std::uint64_t key = 0;
  std::uint32_t bytes = 0;
  std::uint32_t crc_given = 0;  // 1: `crc` is the payload's CRC32C
  std::uint32_t crc = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(RemoteBuffer) == 32);

/// payload: of a message of kind kExposed. nullopt: malformed.
inline std::optional<RemoteBuffer> decode_remote(Bytes payload) noexcept {
  const auto remote = messages::decode_exposed<RemoteBuffer>(payload);
  return remote && remote->reserved == 0 ? remote : std::nullopt;
}

}  // namespace livebtl::ofi
