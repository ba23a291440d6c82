// SPDX-License-Identifier: BSD-3-Clause
// watchd/texts/moment.cc -- see moment.h. The C locale is in force: nothing here calls setlocale().
#include "watchd/texts/moment.h"

#include <array>
#include <ctime>

#include "base/text.h"

namespace livebtl::watchd {
namespace {

constexpr std::size_t kMomentBytesMax = 64;
constexpr int kYearMin = 1970, kYearMax = 2200;

std::optional<UnixNs> in_range(std::tm time, long offset_s) {
  if (time.tm_year + 1900 < kYearMin || time.tm_year + 1900 > kYearMax) return std::nullopt;
  return (static_cast<UnixNs>(::timegm(&time)) - offset_s) * kSecond;
}

/// "+01:30" in seconds.
std::optional<long> read_offset(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  if (text.size() != 6 || text[3] != ':' || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const auto hours = parse_number<long>(text.substr(1, 2));
  const auto minutes = parse_number<long>(text.substr(4, 2));
  if (!hours || !minutes || *hours < 0 || *hours > 23 || *minutes < 0 || *minutes > 59)
    return std::nullopt;
  const long seconds = *hours * 3600 + *minutes * 60;
  return text[0] == '+' ? seconds : -seconds;
}

/// A fraction is skipped: nothing here depends on less than a second.
std::optional<UnixNs> read_rest_of_iso(const std::tm& time, std::string_view rest) {
  if (rest.starts_with('.')) {
    const auto end = rest.find_first_not_of("0123456789", 1);
    if (end == 1 || end == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(end);
  }
  const auto offset = read_offset(rest);
  return offset ? in_range(time, *offset) : std::nullopt;
}

}  // namespace

std::optional<UnixNs> read_moment(std::string_view text) {
  if (text.size() > kMomentBytesMax || text.find('\0') != std::string_view::npos)
    return std::nullopt;
  const std::string whole(text);
  std::tm time{};
  if (const char* rest = ::strptime(whole.c_str(), "%Y-%m-%dT%H:%M:%S", &time); rest != nullptr)
    return read_rest_of_iso(time, rest);
  for (const char* form : {"%a, %d %b %Y %H:%M:%S GMT", "%d %b %Y %H:%M:%S GMT"}) {
    time = {};
    const char* const rest = ::strptime(whole.c_str(), form, &time);
    if (rest != nullptr && *rest == '\0') return in_range(time, 0);
  }
  return std::nullopt;
}

std::string moment_text(UnixNs at) {
  const std::time_t seconds = at / kSecond;
  std::tm time{};
  std::array<char, 32> text{};
  if (::gmtime_r(&seconds, &time) == nullptr) return "";
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &time);
  return {text.data(), length};
}

}  // namespace livebtl::watchd
