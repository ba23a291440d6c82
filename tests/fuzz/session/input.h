// SPDX-License-Identifier: BSD-3-Clause
// tests/fuzz/session/input.h -- a fuzzer's input, read as choices. At its end every choice is 0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace livebtl::fuzz {

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t bytes) : data_(data), bytes_(bytes) {}

  bool empty() const noexcept { return at_ >= bytes_; }
  std::uint8_t byte() noexcept { return empty() ? 0 : data_[at_++]; }
  /// [0..end).
  std::size_t below(std::size_t end) noexcept { return byte() % end; }
  std::uint64_t number(std::size_t bytes) noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value = value << 8U | byte();
    return value;
  }

 private:
  const std::uint8_t* data_;
  std::size_t bytes_;
  std::size_t at_ = 0;
};

}  // namespace livebtl::fuzz
