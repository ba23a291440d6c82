// SPDX-License-Identifier: BSD-3-Clause
// base/hex.h -- numbers and bytes as hexadecimal text, and back. Lower case always. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace livebtl {

/// The lowest `digits` digits: hex_digits(0x2a, 16) is "000000000000002a".
std::string hex_digits(std::uint64_t value, int digits);

/// An id as shown to people and in JSON, without leading zeros: "0x2a".
std::string hex_id(std::uint64_t id);

/// Two digits per byte.
std::string hex_bytes(Bytes bytes);

/// Digits only, without "0x". nullopt: empty, another character, or more than 64 bits.
std::optional<std::uint64_t> parse_hex(std::string_view digits);

/// What hex_id() writes, with or without leading zeros. nullopt: anything else.
std::optional<std::uint64_t> parse_hex_id(std::string_view text);

}  // namespace livebtl
