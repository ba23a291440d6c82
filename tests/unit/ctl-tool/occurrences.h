// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/occurrences.h -- how often a picture has an element, for tests of pictures. Pure.
#pragma once

#include <cstddef>
#include <string>

namespace livebtl::tool {

/// Of `part` in `text`; `part` is not empty.
inline std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace livebtl::tool
