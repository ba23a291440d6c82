// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_remote_buffer.h -- how a message describes a buffer that the peer is to read (docs/WIRE.md,
// "ofi"). Pure.
#pragma once

#include "transports/messages/exposed.h"

namespace livebtl::ofi {

struct RemoteBuffer {
  std::uint64_t address = 0;  // as the provider wants it
  std::uint64_t key = 0;
  std::uint32_t bytes = 0;
  std::uint32_t crc_given = 0;  // 1: `crc` is the payload's CRC32C
  std::uint32_t crc = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(RemoteBuffer) == 32);

/// The payload of a message of kind kExposed. Hostile. nullopt: it makes no sense.
inline std::optional<RemoteBuffer> decode_remote(Bytes payload) noexcept {
  const auto remote = messages::decode_exposed<RemoteBuffer>(payload);
  return remote && remote->reserved == 0 ? remote : std::nullopt;
}

}  // namespace livebtl::ofi
