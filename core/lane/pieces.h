// SPDX-License-Identifier: BSD-3-Clause
// core/lane/pieces.h -- scattered memory, by its contiguous pieces. Pure.
#pragma once

#include <algorithm>
#include <span>
#include <type_traits>

#include "livebtl/types.h"

namespace livebtl::core {

/// The contiguous piece of scattered memory at `offset`, at most bytes_max long.
template <class SliceType>
SliceType piece_at(std::span<const SliceType> slices, std::uint64_t offset,
                   std::size_t bytes_max) noexcept {
  using Pointer =
      std::conditional_t<std::is_same_v<SliceType, Slice>, const std::byte*, std::byte*>;
  for (const SliceType& slice : slices) {
    if (offset < slice.bytes)
      return {static_cast<Pointer>(slice.data) + offset,
              std::min<std::size_t>(slice.bytes - offset, bytes_max)};
    offset -= slice.bytes;
  }
  return {};
}

}  // namespace livebtl::core
