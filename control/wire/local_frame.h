// SPDX-License-Identifier: BSD-3-Clause
// control/wire/local_frame.h -- an envelope as one packet of a Unix socket. Pure; any thread. Input is
// hostile.
//
// Eight bytes, little-endian, then the three texts without anything in between:
//   u8 version (1) | u8 zero | u16 bytes of back | u16 bytes of to | u16 zero | back | to | body
// The body is the rest of the packet.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "control/wire/envelope.h"
#include "control/wire/messages.h"

namespace livebtl::control {

inline constexpr std::size_t kLocalHeadBytes = 8;
inline constexpr std::size_t kToBytesMax = 512;
inline constexpr std::size_t kLocalPacketMax =
    kLocalHeadBytes + kBackBytesMax + kToBytesMax + kMessageBytesMax;

/// The first eight bytes of the packet. nullopt: a text is too long for a packet.
std::optional<std::array<std::byte, kLocalHeadBytes>> local_head(const Envelope& envelope) noexcept;
/// The whole packet. nullopt as above.
std::optional<std::string> format_local(const Envelope& envelope);
/// nullopt: malformed. The envelope's peer stays empty.
std::optional<Envelope> parse_local(std::string_view packet);

}  // namespace livebtl::control
