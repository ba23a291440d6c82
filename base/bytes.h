// SPDX-License-Identifier: BSD-3-Clause
// base/bytes.h -- little-endian readers and writers with bounds checks, for bytes from outside.
#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <livebtl/types.h>

namespace livebtl {

static_assert(std::endian::native == std::endian::little,
              "headers are copied as they stand in memory");

using Blob = std::vector<std::byte>;

inline Bytes as_bytes(std::string_view text) noexcept {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
template <class T>
requires std::is_trivially_copyable_v<T> Bytes bytes_of(const T& value)
noexcept { return {reinterpret_cast<const std::byte*>(&value), sizeof(T)}; }

/// memcpy of at most 64 bytes without a call: two overlapping copies of the largest size that fits.
inline void copy_small(std::byte* to, const std::byte* from, std::size_t count) noexcept {
  if (count > 32) {
    std::memcpy(to, from, 32);
    std::memcpy(to + count - 32, from + count - 32, 32);
  } else if (count > 16) {
    std::memcpy(to, from, 16);
    std::memcpy(to + count - 16, from + count - 16, 16);
  } else if (count >= 8) {
    std::memcpy(to, from, 8);
    std::memcpy(to + count - 8, from + count - 8, 8);
  } else {
    for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
  }
}
inline constexpr std::size_t kSmallBytes = 64;
/// memcpy for messages, most of which are small.
inline void copy_bytes(void* to, const void* from, std::size_t count) noexcept {
  if (count <= kSmallBytes)
    copy_small(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), count);
  else
    std::memcpy(to, from, count);
}

/// Reads values off the front of untrusted bytes. After the first read past the end every read
/// returns zero and ok() is false: check once, at the end.
class ByteReader {
 public:
  explicit ByteReader(Bytes bytes) noexcept : rest_(bytes) {}

  template <class T>
  requires std::is_trivially_copyable_v<T> T take()
  noexcept {
    T value{};
    const Bytes piece = take_bytes(sizeof(T));
    if (!piece.empty()) std::memcpy(&value, piece.data(), sizeof(T));
    return value;
  }
  Bytes take_bytes(std::size_t count) noexcept {
    if (count > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    const Bytes piece = rest_.first(count);
    rest_ = rest_.subspan(count);
    return piece;
  }
  /// Takes a 16-bit length and that many bytes, at most bytes_max.
  Bytes take_counted(std::size_t bytes_max) noexcept {
    const std::size_t count = take<std::uint16_t>();
    if (count > bytes_max) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    return take_bytes(count);
  }
  Bytes rest() const noexcept { return rest_; }
  bool ok() const noexcept { return ok_; }
  /// All was read, and nothing past the end.
  bool finished() const noexcept { return ok_ && rest_.empty(); }

 private:
  Bytes rest_;
  bool ok_ = true;
};

class ByteWriter {
 public:
  ByteWriter() { blob_.reserve(kUsualBytes); }

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(const T& value) { put_bytes(bytes_of(value)); }
  void put_bytes(Bytes bytes) { blob_.insert(blob_.end(), bytes.begin(), bytes.end()); }
  /// Requires: at most 65535 bytes.
  void put_counted(Bytes bytes) {
    put(static_cast<std::uint16_t>(bytes.size()));
    put_bytes(bytes);
  }
  const Blob& blob() const noexcept { return blob_; }
  Blob take() noexcept { return std::move(blob_); }

 private:
  static constexpr std::size_t kUsualBytes = 128;

  Blob blob_;
};

}  // namespace livebtl
