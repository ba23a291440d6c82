// SPDX-License-Identifier: BSD-3-Clause
// says.h -- whether a text for users contains what it should.
#pragma once

#include <string_view>

namespace livebtl::test {

inline bool says(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace livebtl::test
