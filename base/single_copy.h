// SPDX-License-Identifier: BSD-3-Clause
// base/single_copy.h -- how a transport within a node copies large messages, and the word for each
// way. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace livebtl {

// kAuto: where measured to be faster than two copies; by cma, or by knem if cma is refused
enum class SingleCopy : std::uint8_t { kAuto, kCma, kKnem, kNone };

inline constexpr std::pair<std::string_view, SingleCopy> kSingleCopies[] = {
    {"auto", SingleCopy::kAuto},
    {"cma", SingleCopy::kCma},
    {"knem", SingleCopy::kKnem},
    {"none", SingleCopy::kNone}};

constexpr std::string_view single_copy_name(SingleCopy way) noexcept {
  return kSingleCopies[static_cast<std::size_t>(way)].first;
}

constexpr std::optional<SingleCopy> parse_single_copy(std::string_view word) noexcept {
  for (const auto& [name, way] : kSingleCopies)
    if (name == word) return way;
  return std::nullopt;
}

}  // namespace livebtl
