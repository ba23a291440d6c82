// SPDX-License-Identifier: BSD-3-Clause
// base/nearest.h -- "did you mean ...?" for names typed by people. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace livebtl {

/// Fewest insertions, deletions and replacements of one character that turn one into the other.
std::size_t edit_distance(std::string_view one, std::string_view other);

/// The candidate that is fewest edits away (the first of equals); nullopt if none is near enough to
/// be a typing error: at most a third of the name's length, or one edit.
std::optional<std::string_view> nearest(std::string_view name,
                                        std::span<const std::string_view> candidates);

}  // namespace livebtl
