// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_lent.h -- what a message says of a payload that the peer is to read from where
// it lies (docs/WIRE.md, "ofi"). Pure.
#pragma once

#include <cstring>

#include "transports/messages/message.h"

namespace livebtl::ofi {

/// Larger payloads are lent: below, telling where they lie and that they were read costs more than
/// copying them.
inline constexpr std::uint32_t kLentBytesMin = 128u << 10;
/// Summing up and registering so much takes less than the 100 us for which the engine may be held.
inline constexpr std::uint32_t kLentBytesMax = 512u << 10;
/// Payloads that an endpoint lends at once: enough that the peer never waits for the next.
inline constexpr std::uint32_t kLentMax = 4;

struct Lent {
  std::uint64_t address = 0;  // as the provider wants it
  std::uint64_t key = 0;
  std::uint32_t bytes = 0;
  std::uint32_t crc_given = 0;  // 1: `crc` is the payload's CRC32C
  std::uint32_t crc = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(Lent) == 32 && sizeof(Lent) <= messages::kWhereBytesMax);

/// The payload of a message of kind kLent. Hostile. nullopt: it makes no sense.
inline std::optional<Lent> decode_lent(Bytes payload) noexcept {
  Lent lent;
  if (payload.size() != sizeof lent) return std::nullopt;
  std::memcpy(&lent, payload.data(), sizeof lent);
  const bool sane = lent.bytes >= kLentBytesMin && lent.bytes <= kLentBytesMax &&
                    lent.crc_given <= 1 && (lent.crc_given != 0 || lent.crc == 0) &&
                    lent.reserved == 0;
  return sane ? std::optional(lent) : std::nullopt;
}

}  // namespace livebtl::ofi
