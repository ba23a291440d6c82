// SPDX-License-Identifier: BSD-3-Clause
// base/transport_name.cc -- see transport_name.h.
#include "base/transport_name.h"

#include <algorithm>
#include <cstdint>

#include "base/text.h"

namespace livebtl {
namespace {

bool is_small(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_beneath(char c) noexcept {
  return is_small(c) || (c >= 'A' && c <= 'Z') || c == '.' || c == ';' || c == '_' || c == '-';
}

struct Alias {
  std::string_view transport;
  std::string_view alias;
};
constexpr Alias kAliases[] = {{"sm", "vader"}, {"verbs", "openib"}};

}  // namespace

std::string_view alias_of(std::string_view transport) noexcept {
  for (const Alias& each : kAliases) {
    if (each.transport == transport) return each.alias;
  }
  return "";
}

std::string_view canonical_transport(std::string_view name) noexcept {
  for (const Alias& each : kAliases) {
    if (each.alias == name) return each.transport;
  }
  return name;
}

bool is_transport_name(std::string_view text) noexcept {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  if (name.empty() || text.size() > kTransportNameMax || !std::ranges::all_of(name, is_small))
    return false;
  if (colon == std::string_view::npos) return true;
  const std::string_view beneath = text.substr(colon + 1);
  const std::size_t second = beneath.find(':');  // a device's port
  const std::string_view port = beneath.substr(std::min(second, beneath.size()));
  return !beneath.empty() && second != 0 &&
         std::ranges::all_of(beneath.substr(0, second), is_beneath) &&
         (port.empty() || parse_number<std::uint8_t>(port.substr(1)).value_or(0) != 0);
}

std::string_view without_name(std::string_view error, std::string_view transport) noexcept {
  const std::string_view name = transport.substr(0, transport.find(':'));
  if (!error.starts_with(name) || !error.substr(name.size()).starts_with(": ")) return error;
  return error.substr(name.size() + 2);
}

}  // namespace livebtl
