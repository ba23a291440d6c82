// SPDX-License-Identifier: BSD-3-Clause
// base/text.h -- what in a text from outside must not reach a terminal. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace livebtl {

/// How many bytes it begins with that would do something to a terminal: a control character, in
/// UTF-8 one of the upper ones, one that ends a line, or one that turns the direction in which
/// what follows is shown, so that it reads as something else. 0: none.
std::size_t control_bytes(std::string_view text) noexcept;

}  // namespace livebtl
