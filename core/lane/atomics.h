// SPDX-License-Identifier: BSD-3-Clause
// core/lane/atomics.h -- executes an atomic on local memory with the CPU's atomic instructions. Pure.
//
// MPI's one-sided code mixes CPU atomics on shared window state with ours, so "under our lock"
// would be wrong. Floats and the operations the CPU lacks are compare-exchange loops of the
// scalar's width.
#pragma once

#include <cstddef>

#include "livebtl/port.h"

namespace livebtl::core {

std::size_t scalar_bytes(Scalar scalar) noexcept;
/// Is the pair supported? (No bit operations on floats.)
bool atomic_supported(AtomicOp op, Scalar scalar) noexcept;
/// Does it take compare operands?
bool needs_compare(AtomicOp op) noexcept;
/// target: count scalars, aligned to the scalar. operand, compare: count scalars, any alignment;
/// null where the operation has none. fetched: receives the previous values, any alignment; may be
/// null. false, nothing touched: unsupported pair, a needed operand is null, target null or
/// misaligned.
bool execute_atomic(AtomicOp op, Scalar scalar, std::size_t count, void* target,
                    const void* operand, const void* compare, void* fetched) noexcept;

}  // namespace livebtl::core
