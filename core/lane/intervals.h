// SPDX-License-Identifier: BSD-3-Clause
// core/lane/intervals.h -- which bytes of a transfer have arrived; repeats and overlaps count once. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

#include "base/assert.h"

namespace livebtl::core {

class Intervals {
 public:
  /// [offset, offset + length) has arrived. Requires: no overflow. Returns how many of these bytes
  /// are new. In-order arrival, the usual case, allocates nothing.
  std::uint64_t add(std::uint64_t offset, std::uint64_t length) {
    if (offset == prefix_ && islands_.empty()) [[likely]] {
      prefix_ += length;
      return length;
    }
    return add_out_of_order(offset, offset + length);
  }
  /// Has any byte of [offset, offset + length) arrived?
  bool touches(std::uint64_t offset, std::uint64_t length) const noexcept;
  /// Bytes arrived in total.
  std::uint64_t covered() const noexcept { return prefix_ + island_bytes_; }
  /// The number of separate stretches that have arrived beyond the prefix.
  std::size_t islands() const noexcept { return islands_.size(); }
  /// All bytes before this have arrived: where a new attempt may start.
  std::uint64_t prefix() const noexcept { return prefix_; }

 private:
  std::uint64_t add_out_of_order(std::uint64_t begin, std::uint64_t end);
  /// Merges the islands that the prefix has reached into it.
  void absorb() noexcept;

  std::uint64_t prefix_ = 0;
  std::uint64_t island_bytes_ = 0;
  // begin -> end; separate from each other, and after the prefix
  std::map<std::uint64_t, std::uint64_t> islands_;
};

inline std::uint64_t Intervals::add_out_of_order(std::uint64_t begin, std::uint64_t end) {
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

inline bool Intervals::touches(std::uint64_t offset, std::uint64_t length) const noexcept {
  if (length == 0) return false;
  if (offset < prefix_) return true;
  const auto behind = islands_.lower_bound(offset + length);
  return behind != islands_.begin() && std::prev(behind)->second > offset;
}

inline void Intervals::absorb() noexcept {
  while (!islands_.empty() && islands_.begin()->first <= prefix_) {
    const auto [begin, end] = *islands_.begin();
    prefix_ = std::max(prefix_, end);
    island_bytes_ -= end - begin;
    islands_.erase(islands_.begin());
  }
}

}  // namespace livebtl::core
