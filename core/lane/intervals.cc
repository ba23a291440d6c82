// SPDX-License-Identifier: BSD-3-Clause
// core/lane/intervals.cc -- arrival out of order, or again. Pure; runs under the engine's lock.
#include "core/lane/intervals.h"

#include <algorithm>
#include <iterator>

#include "base/assert.h"

namespace livebtl::core {

std::uint64_t Intervals::add_out_of_order(std::uint64_t begin, std::uint64_t end) {
  LIVEBTL_ASSERT(begin <= end, "the receiver has checked offset and length");
  const std::uint64_t before = covered();
  if (begin <= prefix_) {
    prefix_ = std::max(prefix_, end);
    absorb();
    return covered() - before;
  }
  if (begin == end) return 0;
  auto island = islands_.upper_bound(begin);
  if (island != islands_.begin() && std::prev(island)->second >= begin) --island;
  while (island != islands_.end() && island->first <= end) {
    begin = std::min(begin, island->first);
    end = std::max(end, island->second);
    island_bytes_ -= island->second - island->first;
    island = islands_.erase(island);
  }
  islands_.emplace_hint(island, begin, end);
  island_bytes_ += end - begin;
  return covered() - before;
}

bool Intervals::touches(std::uint64_t offset, std::uint64_t length) const noexcept {
  if (length == 0) return false;
  if (offset < prefix_) return true;
  const auto behind = islands_.lower_bound(offset + length);
  return behind != islands_.begin() && std::prev(behind)->second > offset;
}

void Intervals::absorb() noexcept {
  while (!islands_.empty() && islands_.begin()->first <= prefix_) {
    const auto [begin, end] = *islands_.begin();
    prefix_ = std::max(prefix_, end);
    island_bytes_ -= end - begin;
    islands_.erase(islands_.begin());
  }
}

}  // namespace livebtl::core
