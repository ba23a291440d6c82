// SPDX-License-Identifier: BSD-3-Clause
// perf/buffer.h -- a buffer with content that is unique to one message: another message's content,
// or a part that did not arrive, differs. A value.
#pragma once

#include <cstring>
#include <vector>

#include "livebtl/types.h"

namespace livebtl::perf {

class Buffer {
 public:
  explicit Buffer(std::size_t bytes) : content_(bytes, std::byte{'x'}) {}

  Slice slice() const noexcept { return {content_.data(), content_.size()}; }
  MutableSlice room() noexcept { return {content_.data(), content_.size()}; }
  std::byte* data() noexcept { return content_.data(); }

  void fill(std::uint64_t message) noexcept { fill(message, 0, content_.size()); }
  bool holds(std::uint64_t message) const noexcept { return holds(message, 0, content_.size()); }
  /// A part of it.
  void fill(std::uint64_t message, std::size_t offset, std::size_t bytes) noexcept {
    for (std::size_t at = 0; at < bytes; at += 8) {
      const std::uint64_t word = word_of(message, at);
      std::memcpy(content_.data() + offset + at, &word, at + 8 <= bytes ? 8 : bytes - at);
    }
  }
  bool holds(std::uint64_t message, std::size_t offset, std::size_t bytes) const noexcept {
    for (std::size_t at = 0; at < bytes; at += 8) {
      const std::uint64_t word = word_of(message, at);
      if (std::memcmp(content_.data() + offset + at, &word, at + 8 <= bytes ? 8 : bytes - at) != 0)
        return false;
    }
    return true;
  }

 private:
  static std::uint64_t word_of(std::uint64_t message, std::size_t at) noexcept {
    return (message + 1) * 0x9e3779b97f4a7c15U + at * 0x2545f4914f6cdd1dU;
  }

  std::vector<std::byte> content_;
};

}  // namespace livebtl::perf
