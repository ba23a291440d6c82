// SPDX-License-Identifier: BSD-3-Clause
// memory_in_use.h -- what this process has allocated, to see what a departed peer has left behind.
#pragma once

#include <malloc.h>

#include <cstddef>

namespace livebtl::test {

/// Bytes; 0: a sanitizer's allocator does not report it.
inline std::size_t memory_in_use() {
  const auto now = ::mallinfo2();
  return now.uordblks + now.hblkhd;
}

}  // namespace livebtl::test
