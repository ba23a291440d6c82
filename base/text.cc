// SPDX-License-Identifier: BSD-3-Clause
// base/text.cc -- see text.h.
#include "base/text.h"

#include <algorithm>

namespace livebtl {

std::size_t control_bytes(std::string_view text) noexcept {
  const auto byte = [text](std::size_t at) -> unsigned {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  const auto third_in = [&byte](unsigned first, unsigned last) {
    return byte(2) >= first && byte(2) <= last;
  };
  if (byte(0) < 0x20 || byte(0) == 0x7f) return 1;
  if (byte(0) == 0xc2) return byte(1) >= 0x80 && byte(1) <= 0x9f ? 2 : 0;
  if (byte(0) == 0xd8) return byte(1) == 0x9c ? 2 : 0;  // U+061C
  if (byte(0) != 0xe2) return 0;
  const bool general = byte(1) == 0x80 && (third_in(0x8e, 0x8f) || third_in(0xa8, 0xae));
  const bool isolates = byte(1) == 0x81 && third_in(0xa6, 0xa9);
  return general || isolates ? 3 : 0;
}

bool is_plain(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
         c == '-' || c == '_';
}

bool is_plain_name(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_plain);
}

}  // namespace livebtl
