// SPDX-License-Identifier: BSD-3-Clause
// control/place/page_fit.cc -- see page_fit.h.
#include "control/place/page_fit.h"

#include "base/text.h"

namespace livebtl::control {
namespace {

/// Length of the UTF-8 character that the text begins with; 0: there is none.
std::size_t character_bytes(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xe0 && at(1) < 0xa0) || (lead == 0xf0 && at(1) < 0x90);
  const bool beyond = (lead == 0xed && at(1) > 0x9f) || (lead == 0xf4 && at(1) > 0x8f);
  return overlong || beyond ? 0 : bytes;
}

}  // namespace

std::string clean_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t control = control_bytes(text);
    const std::size_t bytes = control != 0 ? 0 : character_bytes(text);
    out += bytes == 0 ? "?" : text.substr(0, bytes);
    text.remove_prefix(std::max<std::size_t>(1, std::max(control, bytes)));
  }
  return out;
}

}  // namespace livebtl::control
