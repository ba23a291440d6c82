// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_frame.h -- what a queue pair says of a payload that the peer's device is
// to fetch (docs/WIRE.md, "verbs"). Pure.
#pragma once

#include "transports/messages/message.h"

namespace livebtl::verbs {

using messages::Kind;
using messages::kPayloadBytesMax;
using messages::Message;

/// Larger payloads are lent. To register and deregister memory at both ends, and to say that it was
/// fetched, takes some ten to twenty microseconds: the time in which 128 KiB are copied twice.
inline constexpr std::uint32_t kLentBytesMin = 128u << 10;
/// Pinning the pages of 512 KiB and summing them up take less than the 100 us for which the engine
/// may be held.
inline constexpr std::uint32_t kLentBytesMax = 512u << 10;

/// Payloads that an endpoint lends at once: enough that the peer's device never waits for the next.
inline constexpr std::uint32_t kLentMax = 4;

/// Where a payload lies that the peer's device is to fetch.
struct Lent {
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::uint32_t bytes = 0;
  std::uint32_t crc_given = 0;  // 1: `crc` is the payload's CRC32C
  std::uint32_t crc = 0;
};
static_assert(sizeof(Lent) == 24);

static_assert(sizeof(Lent) <= messages::kWhereBytesMax);

/// The payload of a message of kind kLent. nullopt: it makes no sense.
std::optional<Lent> decode_lent(Bytes payload) noexcept;

}  // namespace livebtl::verbs
