// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_address.cc -- see ofi_address.h.
#include "transports/ofi/ofi_address.h"

namespace livebtl::ofi {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::uint32_t kCreditsMax = 1u << 16;

void put(ByteWriter& writer, const ProviderAddress& address) {
  writer.put(address.provider);
  writer.put(address.node);
}

ProviderAddress take(ByteReader& reader) noexcept {
  ProviderAddress address;
  address.provider = reader.take<std::uint64_t>();
  address.node = reader.take<std::uint64_t>();
  return address;
}

}  // namespace

// FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/
std::uint64_t hash_of_provider(std::string_view name, std::uint32_t address_format) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&hash](Bytes bytes) {
    for (const std::byte each : bytes)
      hash = (hash ^ std::to_integer<std::uint64_t>(each)) * 0x100000001b3;
  };
  add(as_bytes(name));
  add(bytes_of(address_format));
  return hash;
}

bool may_reach(const ProviderAddress& one, const ProviderAddress& other) noexcept {
  return one.provider == other.provider && one.node == other.node;
}

Blob encode_address(const ProviderAddress& address) {
  ByteWriter writer;
  writer.put(kVersion);
  put(writer, address);
  return writer.take();
}

Result<ProviderAddress> decode_address(Bytes bytes) {
  ByteReader reader(bytes);
  if (reader.take<std::uint8_t>() != kVersion) {
    return fail(Errc::kInvalid,
                "ofi: an address of unknown version; do all processes run the same livebtl?");
  }
  const ProviderAddress address = take(reader);
  if (!reader.finished() || address.provider == 0)
    return fail(Errc::kInvalid, "ofi: malformed address");
  return address;
}

Blob encode_ticket(const Ticket& ticket) {
  ByteWriter writer;
  writer.put(kVersion);
  put(writer, ticket.address);
  writer.put(ticket.token);
  writer.put(ticket.credits);
  writer.put(ticket.payload_bytes_max);
  writer.put(ticket.node);
  writer.put_counted(ticket.name);
  return writer.take();
}

Result<Ticket> decode_ticket(Bytes bytes) {
  ByteReader reader(bytes);
  Ticket ticket;
  if (reader.take<std::uint8_t>() != kVersion) {
    return fail(Errc::kInvalid,
                "ofi: a ticket of unknown version; do all processes run the same livebtl?");
  }
  ticket.address = take(reader);
  ticket.token = reader.take<std::uint64_t>();
  ticket.credits = reader.take<std::uint32_t>();
  ticket.payload_bytes_max = reader.take<std::uint32_t>();
  ticket.node = reader.take<std::uint64_t>();
  const Bytes name = reader.take_counted(kNameBytesMax);
  ticket.name.assign(name.begin(), name.end());
  const bool sane = ticket.address.provider != 0 && ticket.token != 0 &&
                    ticket.credits <= kCreditsMax && !ticket.name.empty();
  if (!sane || !reader.finished()) return fail(Errc::kInvalid, "ofi: malformed ticket");
  return ticket;
}

}  // namespace livebtl::ofi
