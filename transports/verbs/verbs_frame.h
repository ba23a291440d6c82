// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_frame.h -- one message of a queue pair: a frame with what goes before it,
// or a word between the two ends (docs/WIRE.md, "verbs"). Pure.
#pragma once

#include <optional>

#include "core/transport.h"

namespace livebtl::verbs {

inline constexpr std::uint32_t kPayloadBytesMax = 32u << 10;
/// Larger payloads are lent. To register and deregister memory at both ends, and to say that it was
/// fetched, takes some ten to twenty microseconds: the time in which 128 KiB are copied twice.
inline constexpr std::uint32_t kLentBytesMin = 128u << 10;
/// Pinning the pages of 512 KiB and summing them up take less than the 100 us for which the engine
/// may be held.
inline constexpr std::uint32_t kLentBytesMax = 512u << 10;

/// Payloads that an endpoint lends at once: enough that the peer's device never waits for the next.
inline constexpr std::uint32_t kLentMax = 4;

enum class Kind : std::uint8_t {
  kFrame = 1,
  kCredit = 2,   // only tells `promised`
  kBye = 3,      // nothing comes after it
  kLent = 4,     // a frame whose payload is to be fetched: a Lent stands in its place
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

/// Where a payload lies that the peer's device is to fetch.
struct Lent {
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::uint32_t bytes = 0;
  std::uint32_t crc_given = 0;  // 1: `crc` is the payload's CRC32C
  std::uint32_t crc = 0;
};
static_assert(sizeof(Lent) == 24);

inline constexpr std::size_t kMessageBytesMax =
    sizeof(Head) + core::kHeaderBytesMax + kPayloadBytesMax;

/// Head and header of a frame at `to`, which has room for them; the payload is to follow. Returns
/// their size.
std::size_t encode_frame(const core::Frame& frame, std::uint32_t promised, bool payload_crc,
                         std::byte* to) noexcept;
/// Returns its size.
std::size_t encode_lent(Bytes header, const Lent& lent, std::uint32_t promised,
                        std::byte* to) noexcept;
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
/// The payload of a message of kind kLent. nullopt: it makes no sense.
std::optional<Lent> decode_lent(Bytes payload) noexcept;

}  // namespace livebtl::verbs
