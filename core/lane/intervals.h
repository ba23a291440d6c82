// SPDX-License-Identifier: BSD-3-Clause
// core/lane/intervals.h -- which bytes of a transfer have arrived; repeats and overlaps count once. Pure.
#pragma once

#include <cstdint>
#include <map>

namespace livebtl::core {

class Intervals {
 public:
  /// [offset, offset + length) has arrived. Requires: no overflow. Answers how many of these bytes
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
  /// Bytes arrived in all.
  std::uint64_t covered() const noexcept { return prefix_ + island_bytes_; }
  /// All bytes before this have arrived: where a new attempt may start.
  std::uint64_t prefix() const noexcept { return prefix_; }

 private:
  std::uint64_t add_out_of_order(std::uint64_t begin, std::uint64_t end);
  /// Moves the islands that the prefix has reached into it.
  void absorb() noexcept;

  std::uint64_t prefix_ = 0;
  std::uint64_t island_bytes_ = 0;
  std::map<std::uint64_t, std::uint64_t>
      islands_;  // begin -> end; apart from each other and behind the prefix
};

}  // namespace livebtl::core
