// SPDX-License-Identifier: BSD-3-Clause
// core/lane/unplaced.h -- which bytes of a fragment no other path is reading into place right now:
// such a path may yet fail, and bytes that it spoils would count as arrived. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

namespace livebtl::core {

/// Offsets in a message; empty if begin == end.
struct Stretch {
  std::uint64_t begin = 0, end = 0;
};

/// The first stretch of `of` that no path is reading into place for this transfer. A path has
/// placing, placing_begin and placing_end, as in Path.
template <class Paths>
Stretch first_unplaced(const Paths& paths, std::uint64_t transfer, Stretch of) noexcept {
  for (bool moved = true; moved;) {
    moved = false;
    for (const auto& path : paths) {
      if (path->placing != transfer || of.begin < path->placing_begin ||
          of.begin >= path->placing_end)
        continue;
      of.begin = path->placing_end;
      moved = true;
    }
  }
  for (const auto& path : paths) {
    if (path->placing == transfer && path->placing_begin >= of.begin)
      of.end = std::min(of.end, path->placing_begin);
  }
  return {std::min(of.begin, of.end), of.end};
}

}  // namespace livebtl::core
