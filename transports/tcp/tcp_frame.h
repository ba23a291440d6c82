// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_frame.h -- what tcp puts before each frame, and first on each connection.
// Pure. Specification: docs/WIRE.md, "TCP"; change both.
#pragma once

#include <array>
#include <optional>

#include "base/bytes.h"
#include "transports/interface/transport.h"

namespace livebtl::tcp {

inline constexpr std::uint32_t kPayloadBytesMax = 256u << 10;

/// 16 bytes before each header. Copied as it stands in memory: little-endian.
struct Prelude {
  std::uint32_t head_crc = 0;  // CRC32C of all that follows up to the end of the header
  std::uint8_t magic = 0;
  std::uint8_t header_bytes = 0;
  std::uint8_t flags = 0;
  std::uint8_t reserved = 0;
  std::uint32_t payload_bytes = 0;
  std::uint32_t payload_crc = 0;  // with kFlagPayloadCrc, else 0
};
static_assert(sizeof(Prelude) == 16);

inline constexpr std::uint8_t kFrameMagic = 0xB1;
inline constexpr std::uint8_t kFlagPayloadCrc = 1;

/// Prelude and header as they are written, in one piece.
struct Head {
  std::array<std::byte, sizeof(Prelude) + core::kHeaderBytesMax>
      raw;  // uninitialised beyond `bytes`
  std::size_t bytes = 0;
  Bytes view() const noexcept { return Bytes(raw).first(bytes); }
};
void encode_head(const core::Frame& frame, bool with_payload_crc, Head& head) noexcept;

/// Sent first by both ends of a connection; the acceptor's answers the dialler's.
inline constexpr std::size_t kPreambleBytes = 16;
/// node: hash of the sender's node identity, which decides whether payloads carry a CRC.
std::array<std::byte, kPreambleBytes> encode_preamble(std::uint64_t node) noexcept;
/// Returns the node. nullopt: not a preamble, or of another version.
std::optional<std::uint64_t> decode_preamble(Bytes bytes) noexcept;

}  // namespace livebtl::tcp
