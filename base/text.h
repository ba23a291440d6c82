// SPDX-License-Identifier: BSD-3-Clause
// base/text.h -- finds what must not reach a terminal in a text from outside. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace livebtl {

/// Length in bytes of the character that the text begins with, if it must not reach a terminal: a
/// control character (in UTF-8 also C1), one that ends a line, or one that changes the direction
/// of writing, so that the text reads as something else. 0: it is harmless.
std::size_t control_bytes(std::string_view text) noexcept;

}  // namespace livebtl
