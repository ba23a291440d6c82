// SPDX-License-Identifier: BSD-3-Clause
// watchd/events/notice.cc -- see notice.h. Pure.
#include "watchd/events/notice.h"

#include <algorithm>
#include <array>

namespace livebtl::watchd {
namespace {

constexpr std::array<const char*, kKinds> kKindNames = {
    "freeze", "migrate", "reboot", "redeploy", "terminate", "preempt", "drain", "maintenance"};

bool is_printable(char c) noexcept { return c >= 0x20 && c < 0x7f; }

}  // namespace

const char* kind_name(Kind kind) noexcept { return kKindNames[static_cast<std::size_t>(kind)]; }

std::optional<Kind> read_kind(std::string_view name) noexcept {
  const auto found = std::find(kKindNames.begin(), kKindNames.end(), name);
  if (found == kKindNames.end()) return std::nullopt;
  return static_cast<Kind>(found - kKindNames.begin());
}

bool well_formed_event_id(std::string_view id) noexcept {
  return !id.empty() && id.size() <= kIdBytesMax && std::all_of(id.begin(), id.end(), [](char c) {
    return is_printable(c) && c != ' ' && c != '"' && c != '\\' && c != '\'';
  });
}

std::string plain_text(std::string_view text) {
  std::string plain(text.substr(0, kTextBytesMax));
  std::replace_if(
      plain.begin(), plain.end(), [](char c) { return !is_printable(c); }, ' ');
  return plain;
}

}  // namespace livebtl::watchd
