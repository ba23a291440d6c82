// SPDX-License-Identifier: BSD-3-Clause
// core/path/address.cc -- see address.h.
#include "core/path/address.h"

namespace livebtl::core {

namespace {
constexpr std::size_t kFixedBytes = 14;
}

std::uint8_t name_hash(std::string_view transport) noexcept {
  std::uint32_t hash = 2166136261U;  // FNV-1a, folded
  for (const char c : transport) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  hash ^= hash >> 16U;
  const auto folded = static_cast<std::uint8_t>(hash ^ (hash >> 8U));
  return folded == 0 ? 1 : folded;  // 0 ends the list
}

Address encode_address(ProcessId process, PortNumber port,
                       const std::vector<std::pair<std::string, Blob>>& contacts) noexcept {
  ByteWriter writer;
  writer.put_bytes(as_bytes("LB"));
  writer.put<std::uint8_t>(1);
  writer.put<std::uint8_t>(0);
  writer.put(port);
  writer.put(process);
  Address address;
  for (const auto& [name, contact] : contacts) {
    if (writer.blob().size() + 2 + contact.size() > address.raw.size() || contact.size() > 255)
      continue;
    writer.put(name_hash(name));
    writer.put(static_cast<std::uint8_t>(contact.size()));
    writer.put_bytes(contact);
  }
  std::copy(writer.blob().begin(), writer.blob().end(), address.raw.begin());
  return address;
}

Result<AddressParts> decode_address(const Address& address) {
  ByteReader reader(address.raw);
  const Bytes magic = reader.take_bytes(2);
  const auto version = reader.take<std::uint8_t>();
  const auto reserved = reader.take<std::uint8_t>();
  AddressParts parts;
  parts.port = reader.take<PortNumber>();
  parts.process = reader.take<ProcessId>();
  static_assert(kFixedBytes == 2 + 2 + sizeof(PortNumber) + sizeof(ProcessId));
  if (!std::equal(magic.begin(), magic.end(), as_bytes("LB").begin()) || version != 1 ||
      reserved != 0 || parts.port == 0 || parts.process == ProcessId{0})
    return fail(Errc::kInvalid, "not an address of a livebtl port (or of another version)");
  while (!reader.rest().empty()) {
    const auto hash = reader.take<std::uint8_t>();
    if (hash == 0) return parts;
    const Bytes contact = reader.take_bytes(reader.take<std::uint8_t>());
    if (!reader.ok()) return fail(Errc::kInvalid, "a livebtl address with a truncated contact");
    parts.contacts[hash] = Blob(contact.begin(), contact.end());
  }
  return parts;
}

}  // namespace livebtl::core
