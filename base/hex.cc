// SPDX-License-Identifier: BSD-3-Clause
// base/hex.cc -- see hex.h.
#include "base/hex.h"

#include <algorithm>
#include <charconv>

namespace livebtl {

std::string hex_digits(std::uint64_t value, int digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    text += kDigits[(value >> static_cast<unsigned>(shift)) & 15U];
  }
  return text;
}

std::string hex_id(std::uint64_t id) {
  const std::string digits = hex_digits(id, 16);
  return "0x" + digits.substr(std::min(digits.find_first_not_of('0'), digits.size() - 1));
}

std::string hex_bytes(Bytes bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte each : bytes) text += hex_digits(std::to_integer<std::uint64_t>(each), 2);
  return text;
}

std::optional<std::uint64_t> parse_hex(std::string_view digits) {
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, value, 16);
  if (digits.empty() || error != std::errc{} || rest != end) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_hex_id(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  return parse_hex(text.substr(2));
}

}  // namespace livebtl
