// SPDX-License-Identifier: BSD-3-Clause
// base/crc32c.cc -- adapts ISA-L's raw CRC to the usual convention (initial and final inversion).
// Any thread.
#include "base/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace livebtl {

// crc32_iscsi() inverts neither at the start nor at the end, takes the length as an int, and only
// reads through its non-const pointer.
std::uint32_t crc32c(Bytes bytes, std::uint32_t so_far) noexcept {
  constexpr std::size_t kPieceMax = std::size_t{1} << 30;
  std::uint32_t raw = ~so_far;
  while (!bytes.empty()) {
    const Bytes piece = bytes.first(std::min(bytes.size(), kPieceMax));
    auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(piece.data()));
    raw = ::crc32_iscsi(data, static_cast<int>(piece.size()), raw);
    bytes = bytes.subspan(piece.size());
  }
  return ~raw;
}

}  // namespace livebtl
