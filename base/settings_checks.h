// SPDX-License-Identifier: BSD-3-Clause
// base/settings_checks.h -- what a setting takes: each function checks a value, which is hostile
// until then, and stores it in its field. For settings_table.cc only. Any thread; pure functions.
//
// Errors: kInvalid, with what the setting takes; then nothing has changed.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "base/device_list.h"
#include "base/hex.h"
#include "base/settings.h"
#include "base/text.h"
#include "base/transport_name.h"

namespace livebtl::settings_checks {

inline constexpr std::size_t kListMax = 64;

inline bool is_name_char(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

// The value becomes a file's name: no path, nothing hidden.
template <std::string Settings::*kMember>
Status set_name(Settings& settings, std::string_view value) {
  if (value.size() > 64 || value.starts_with('.') || !std::ranges::all_of(value, is_name_char))
    return fail(Errc::kInvalid,
                "it takes at most 64 letters, digits, '.', '_', '-', and no '.' in front");
  settings.*kMember = value;
  return {};
}

template <std::string Settings::*kMember>
Status set_path(Settings& settings, std::string_view value) {
  if (value.size() > 4096 || !(value.empty() || value.starts_with('/')) ||
      value.find('\0') != std::string_view::npos)
    return fail(Errc::kInvalid, "it takes a path that begins with /");
  settings.*kMember = value;
  return {};
}

inline Status set_seed(Settings& settings, std::string_view value) {
  constexpr std::size_t kDigits = 64;
  const auto good = [](char c) { return parse_hex({&c, 1}).has_value(); };
  if (value.size() != kDigits || !std::ranges::all_of(value, good))
    return fail(Errc::kInvalid, "it takes 64 hexadecimal digits, as `openssl rand -hex 32` gives");
  settings.seed = value;
  return {};
}

// Which devices and providers exist is for the transports to know.
inline Status set_device(Settings& s, std::string_view v) {
  if (const auto list = parse_device_list(v); !list) return tl::unexpected(list.error());
  s.verbs_device = v;
  return {};
}
inline Status set_provider(Settings& s, std::string_view v) {
  const auto good = [](char c) { return is_name_char(c) || c == ';'; };
  if (v.size() > 64 || !std::ranges::all_of(v, good))
    return fail(Errc::kInvalid, "it takes a provider, as in shm or \"tcp;ofi_rxm\"");
  s.ofi_provider = v;
  return {};
}

template <auto kMember, auto kLow, auto kHigh>
Status set_number(Settings& settings, std::string_view value) {
  const auto parsed = parse_number<std::remove_reference_t<decltype(settings.*kMember)>>(value);
  if (!parsed || std::cmp_less(*parsed, kLow) || std::cmp_greater(*parsed, kHigh))
    return fail(Errc::kInvalid,
                "it takes a number from " + std::to_string(kLow) + " to " + std::to_string(kHigh));
  settings.*kMember = *parsed;
  return {};
}

// 65536, 64K, 1M, 1G: powers of 1024.
template <auto kMember, std::uint64_t kLow, std::uint64_t kHigh = 1u << 30>
Status set_bytes(Settings& settings, std::string_view value) {
  constexpr std::string_view kUnits = "KMG";
  const std::size_t unit = value.empty() ? kUnits.npos : kUnits.find(value.back());
  if (unit != kUnits.npos) value.remove_suffix(1);
  const auto parsed = parse_number<std::uint32_t>(value);
  const std::uint64_t bytes = std::uint64_t{parsed.value_or(0)}
                              << (unit != kUnits.npos ? 10 * (unit + 1) : 0);
  if (!parsed || bytes < kLow || bytes > kHigh)
    return fail(Errc::kInvalid, "it takes bytes from " + std::to_string(kLow) + " to " +
                                    std::to_string(kHigh) + ", as in 65536, 64K or 1M");
  settings.*kMember = static_cast<std::remove_reference_t<decltype(settings.*kMember)>>(bytes);
  return {};
}

inline Status set_list(std::vector<std::string>& target, std::string_view value,
                       bool (*is_good)(std::string_view), const char* takes) {
  std::vector<std::string> items;
  while (!value.empty()) {
    const std::size_t comma = std::min(value.find(','), value.size());
    const std::string_view item = value.substr(0, comma);
    if (!is_good(item) || items.size() == kListMax || comma + 1 == value.size())
      return fail(Errc::kInvalid, takes);
    items.emplace_back(item);
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
  target = std::move(items);
  return {};
}

inline Status set_excluded(Settings& settings, std::string_view value) {
  return set_list(settings.exclude, value, is_transport_name,
                  "it takes transports' names, as in sm,tcp");
}

inline bool is_added_transport(std::string_view item) noexcept {
  return item.starts_with('+') && is_transport_name(item.substr(1));
}
inline Status set_transports(Settings& settings, std::string_view value) {
  const bool added = value.starts_with('+');
  if (Status read =
          set_list(settings.transports, value, added ? is_added_transport : is_transport_name,
                   "it takes transports' names, as in sm,tcp, or what is used beside all "
                   "others, as in +verbs");
      !read)
    return read;
  settings.transports_beside_default = added;
  for (std::string& name : settings.transports) name.erase(0, added ? 1 : 0);
  return {};
}

// Checks only the alphabet: which interfaces and networks exist is for the tcp transport to know.
inline bool is_interface_or_network(std::string_view item) noexcept {
  return !item.empty() && item.size() <= 64 && std::ranges::all_of(item, [](char c) {
    return is_name_char(c) || c == ':' || c == '/' || c == '@';
  });
}
inline Status set_tcp_if(Settings& s, std::string_view v) {
  return set_list(s.tcp_if, v, is_interface_or_network,
                  "it takes interfaces or networks, as in eth0,10.1.0.0/16");
}

template <class Value>
using Word = std::pair<std::string_view, Value>;

inline constexpr Word<bool> kOnOrOff[] = {{"on", true}, {"off", false}};
inline constexpr Word<bool> kOnOrAuto[] = {{"on", true}, {"auto", false}};
inline constexpr Word<bool> kAutoOrOff[] = {{"auto", true}, {"off", false}};
inline constexpr Word<AuthLevel> kAuthLevels[] = {{"none", AuthLevel::kNone},
                                                  {"auth", AuthLevel::kAuth}};
inline constexpr Word<CrcMode> kCrcModes[] = {
    {"network", CrcMode::kNetwork}, {"always", CrcMode::kAlways}, {"never", CrcMode::kNever}};
inline constexpr Word<LogLevel> kLogLevels[] = {{"error", LogLevel::kError},
                                                {"warn", LogLevel::kWarn},
                                                {"info", LogLevel::kInfo},
                                                {"debug", LogLevel::kDebug}};

template <auto kMember, const auto& kWords>
Status set_word(Settings& settings, std::string_view value) {
  std::string takes = "it takes one of:";
  for (const auto& [word, meant] : kWords) {
    if (word == value) {
      settings.*kMember = meant;
      return {};
    }
    takes += " " + std::string(word);
  }
  return fail(Errc::kInvalid, takes);
}

}  // namespace livebtl::settings_checks
