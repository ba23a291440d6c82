// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/promises.h -- part of the program `promises`: scalars for atomics of every
// kind.
#pragma once

#include <cstring>

#include "regions.h"

namespace e2e {

using Memory = std::vector<std::byte>;

inline constexpr std::size_t kCount = 8;  // scalars of one atomic

inline std::size_t bytes_of(livebtl::Scalar scalar) {
  constexpr std::size_t kBytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
  return kBytes[static_cast<std::size_t>(scalar)];
}

inline bool is_real(livebtl::Scalar scalar) {
  return scalar == livebtl::Scalar::kF32 || scalar == livebtl::Scalar::kF64;
}

/// Does such an atomic exist?
inline bool is_there(livebtl::AtomicOp op, livebtl::Scalar scalar) {
  using livebtl::AtomicOp;
  const bool of_bits = op == AtomicOp::kBitOr || op == AtomicOp::kBitAnd ||
                       op == AtomicOp::kBitXor || op == AtomicOp::kMaskedSwap;
  return !of_bits || !is_real(scalar);
}

/// Whole numbers only: random bits may be a NaN, which compares equal to nothing.
template <class Real>
void write_reals(Memory& memory, Chance& chance) {
  for (std::size_t at = 0; at < memory.size(); at += sizeof(Real)) {
    const Real value = static_cast<Real>(chance.below(9)) - 4;
    std::memcpy(memory.data() + at, &value, sizeof value);
  }
}

inline Memory any_scalars(livebtl::Scalar scalar, Chance& chance) {
  Memory memory(kCount * bytes_of(scalar));
  if (scalar == livebtl::Scalar::kF32) write_reals<float>(memory, chance);
  if (scalar == livebtl::Scalar::kF64) write_reals<double>(memory, chance);
  if (is_real(scalar)) return memory;
  for (std::byte& each : memory) each = static_cast<std::byte>(chance.next());
  return memory;
}

}  // namespace e2e
