// SPDX-License-Identifier: BSD-3-Clause
// perf/units.h -- sizes, times and numbers as people write and read them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "livebtl/result.h"

namespace livebtl::perf {

inline constexpr std::size_t kMessageBytesMax = std::size_t{1} << 30;
inline constexpr std::size_t kSizesMax = 64;

/// "8", "64K", "1M", "1GiB", up to kMessageBytesMax. Errors: kInvalid.
Result<std::size_t> parse_size(std::string_view text);
/// "8", "8,1K,1M", and "1:4M": from one to the other in powers of two. Errors: kInvalid, kLimit.
Result<std::vector<std::size_t>> parse_sizes(std::string_view text);
/// "5ms", "200us", "1s"; at most an hour. Errors: kInvalid.
Result<TimeNs> parse_time(std::string_view text);

/// "8 B", "64 KiB", "1 MiB".
std::string size_text(std::size_t bytes);
std::string joined(const std::vector<std::string>& texts, const char* between);
/// Three digits or so, whatever the magnitude: "0.214", "12.3", "4820".
std::string short_number(double value);

}  // namespace livebtl::perf
