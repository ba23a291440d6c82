// SPDX-License-Identifier: BSD-3-Clause
// base/nearest.h -- "did you mean ...?" for names typed by people. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace livebtl {

/// The fewest single-character insertions, deletions and replacements that turn one into the other.
std::size_t edit_distance(std::string_view one, std::string_view other);

/// The candidate the fewest edits away (the first of equals). nullopt: none is near enough to be a
/// typing error, that is, within a third of the name's length, or one edit.
std::optional<std::string_view> nearest(std::string_view name,
                                        std::span<const std::string_view> candidates);

}  // namespace livebtl
