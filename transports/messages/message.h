// SPDX-License-Identifier: BSD-3-Clause
// transports/messages/message.h -- one message of a fabric that moves messages: a frame with what
// goes before it, or a word between the two ends. What verbs and ofi have in common (docs/WIRE.md,
// "Messages"). Pure.
#pragma once

#include <optional>

#include "transports/interface/transport.h"

namespace livebtl::messages {

inline constexpr std::uint32_t kPayloadBytesMax = 32u << 10;
/// Of what stands in place of a lent payload, and says where it lies.
inline constexpr std::size_t kWhereBytesMax = 32;

enum class Kind : std::uint8_t {
  kFrame = 1,
  kCredit = 2,   // only tells `promised`
  kBye = 3,      // nothing comes after it
  kLent = 4,     // a frame whose payload is to be fetched: where it lies stands in its place
  kFetched = 5,  // how many payloads have been fetched
};

/// First in every message.
struct Head {
  std::uint32_t crc = 0;  // CRC32C of the rest of the head and the frame's header
  Kind kind{};
  std::uint8_t header_bytes = 0;       // kFrame, kLent: 1 to 64; else 0
  std::uint8_t payload_crc_given = 0;  // 1: the payload's CRC32C is
  std::uint8_t reserved = 0;
  std::uint32_t promised = 0;  // messages that the sender takes in all, since the connection began
  std::uint32_t payload_crc = 0;  // kFetched: the payloads fetched since the connection began
};
static_assert(sizeof(Head) == 16);

inline constexpr std::size_t kMessageBytesMax =
    sizeof(Head) + core::kHeaderBytesMax + kPayloadBytesMax;

/// Head and header of a frame at `to`, which has room for them; the payload is to follow. Returns
/// their size.
std::size_t encode_frame(const core::Frame& frame, std::uint32_t promised, bool payload_crc,
                         std::byte* to) noexcept;
/// where: at most kWhereBytesMax. Returns its size.
std::size_t encode_lent(Bytes header, Bytes where, std::uint32_t promised, std::byte* to) noexcept;
/// Returns its size. fetched: kFetched alone.
std::size_t encode_word(Kind kind, std::uint32_t promised, std::uint32_t fetched,
                        std::byte* to) noexcept;

struct Message {
  Head head;
  Bytes header;
  Bytes payload;
};
/// Views into `bytes`. payload_bytes_max: what is taken. nullopt: malformed or corrupt, and `why`
/// says what.
std::optional<Message> decode_message(Bytes bytes, std::size_t payload_bytes_max,
                                      const char*& why) noexcept;
}  // namespace livebtl::messages
