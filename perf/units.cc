// SPDX-License-Identifier: BSD-3-Clause
// perf/units.cc -- see units.h.
#include "perf/units.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/text.h"

namespace livebtl::perf {
namespace {

constexpr TimeNs kTimeMax = 3600 * kSecond;

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};
constexpr std::array<Unit, 11> kSizeUnits{{{"", 1},
                                           {"B", 1},
                                           {"K", 1 << 10},
                                           {"k", 1 << 10},
                                           {"KiB", 1 << 10},
                                           {"M", 1 << 20},
                                           {"m", 1 << 20},
                                           {"MiB", 1 << 20},
                                           {"G", 1 << 30},
                                           {"g", 1 << 30},
                                           {"GiB", 1 << 30}}};
constexpr std::array<Unit, 3> kTimeUnits{{{"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}}};

/// nullopt: no number with one of these units, or above `most`.
template <std::size_t Count>
std::optional<std::uint64_t> with_unit(std::string_view text, const std::array<Unit, Count>& units,
                                       std::uint64_t most) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = parse_number<std::uint64_t>(text.substr(0, digits));
  const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& each) {
    return each.name == text.substr(digits);
  });
  if (!number || unit == units.end() || *number > most / unit->factor) return std::nullopt;
  return *number * unit->factor;
}

Status append_range(std::vector<std::size_t>& sizes, std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto first = parse_size(text.substr(0, colon));
  if (!first) return tl::unexpected(first.error());
  const auto last = colon == std::string_view::npos ? first : parse_size(text.substr(colon + 1));
  if (!last) return tl::unexpected(last.error());
  if (*last < *first || (*first == 0 && *last != 0))
    return fail(Errc::kInvalid, "a range goes up, and begins at 1 or more, as in 1:4M");
  for (std::size_t size = *first; size <= *last && sizes.size() <= kSizesMax; size *= 2) {
    sizes.push_back(size);
    if (size == 0) break;
  }
  return {};
}

}  // namespace

Result<std::size_t> parse_size(std::string_view text) {
  const auto size = with_unit(text, kSizeUnits, kMessageBytesMax);
  if (!size) return fail(Errc::kInvalid, "it takes bytes up to 1G, such as 8, 64K or 1M");
  return *size;
}

Result<std::vector<std::size_t>> parse_sizes(std::string_view text) {
  std::vector<std::size_t> sizes;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    if (const auto done = append_range(sizes, text.substr(at, end - at)); !done)
      return tl::unexpected(done.error());
    at = end + 1;
  }
  if (sizes.size() > kSizesMax) return fail(Errc::kLimit, "it takes at most 64 sizes");
  return sizes;
}

Result<TimeNs> parse_time(std::string_view text) {
  const auto time = with_unit(text, kTimeUnits, std::uint64_t{kTimeMax});
  if (!time) return fail(Errc::kInvalid, "it takes a time up to an hour, such as 200us, 5ms or 1s");
  return static_cast<TimeNs>(*time);
}

std::string size_text(std::size_t bytes) {
  constexpr std::array<std::pair<int, const char*>, 3> kUnits{
      {{30, " GiB"}, {20, " MiB"}, {10, " KiB"}}};
  for (const auto& [bits, name] : kUnits) {
    const std::size_t unit = std::size_t{1} << bits;
    if (bytes >= unit && bytes % unit == 0) return std::to_string(bytes / unit) + name;
  }
  return std::to_string(bytes) + " B";
}

std::string joined(const std::vector<std::string>& texts, const char* between) {
  std::string text;
  for (const std::string& each : texts) text += (text.empty() ? "" : between) + each;
  return text;
}

std::string short_number(double value) {
  const int decimals = value < 1 ? 3 : value < 10 ? 2 : value < 100 ? 1 : 0;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

}  // namespace livebtl::perf
