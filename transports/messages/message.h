// SPDX-License-Identifier: BSD-3-Clause
// transports/messages/message.h -- one message of a fabric that moves messages: a frame after its
// head, or a control message between the two ends. Shared by verbs and ofi (docs/WIRE.md,
// "Messages"). Pure.
#pragma once

#include <optional>

#include "transports/interface/transport.h"

namespace livebtl::messages {

inline constexpr std::uint32_t kPayloadBytesMax = 32u << 10;
/// Of the description of an exposed buffer, which takes the place of the payload.
inline constexpr std::size_t kWhereBytesMax = 32;

enum class Kind : std::uint8_t {
  kFrame = 1,
  kCredit = 2,   // only announces `granted`
  kBye = 3,      // nothing comes after it
  kExposed = 4,  // a frame whose payload is to be read; carries a description of its buffer instead
  kReads = 5,    // how many exposed buffers have been read
};

/// First in every message.
struct Head {
  std::uint32_t crc = 0;  // CRC32C of the rest of the head and the frame's header
  Kind kind{};
  std::uint8_t header_bytes = 0;       // kFrame, kExposed: 1 to 64; else 0
  std::uint8_t payload_crc_given = 0;  // 1: payload_crc is given
  std::uint8_t reserved = 0;
  std::uint32_t granted =
      0;  // credit: total messages that the sender accepts since the connection began
  std::uint32_t payload_crc = 0;  // kReads: buffers read since the connection began
};
static_assert(sizeof(Head) == 16);

inline constexpr std::size_t kMessageBytesMax =
    sizeof(Head) + core::kHeaderBytesMax + kPayloadBytesMax;

/// Writes a frame's head and header to `to`, which has room for them; the payload goes after.
/// Returns their size.
std::size_t encode_frame(const core::Frame& frame, std::uint32_t granted, bool payload_crc,
                         std::byte* to) noexcept;
/// where: at most kWhereBytesMax. Returns the size.
std::size_t encode_exposed(Bytes header, Bytes where, std::uint32_t granted,
                           std::byte* to) noexcept;
/// Returns the size. read: only for kReads.
std::size_t encode_control(Kind kind, std::uint32_t granted, std::uint32_t read,
                           std::byte* to) noexcept;

struct Message {
  Head head;
  Bytes header;
  Bytes payload;
};
/// Views into `bytes`. payload_bytes_max: the longest accepted. nullopt: malformed or corrupt;
/// `why` says what.
std::optional<Message> decode_message(Bytes bytes, std::size_t payload_bytes_max,
                                      const char*& why) noexcept;
}  // namespace livebtl::messages
