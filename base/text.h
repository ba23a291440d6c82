// SPDX-License-Identifier: BSD-3-Clause
// base/text.h -- checks of text from outside: as a number, as a name, and for what must not reach a
// terminal. Pure.
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>

namespace livebtl {

/// Length in bytes of the text's first character if it must not reach a terminal: a control
/// character (including C1 in UTF-8), one that ends a line, or one that changes the direction of
/// writing, so that the text reads as something else. 0: it is harmless.
std::size_t control_bytes(std::string_view text) noexcept;

/// An ASCII letter or digit, '.', '-' or '_'.
bool is_plain(char c) noexcept;
/// Only such characters, and at least one.
bool is_plain_name(std::string_view text) noexcept;

/// The whole text as a decimal number. nullopt: it is something else, or does not fit.
template <class Number>
std::optional<Number> parse_number(std::string_view text) noexcept {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && rest == end ? std::optional(value) : std::nullopt;
}

}  // namespace livebtl
