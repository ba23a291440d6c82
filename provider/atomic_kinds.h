// SPDX-License-Identifier: BSD-3-Clause
// provider/atomic_kinds.h -- which atomics are offered, in libfabric's terms and in the engine's.
// Not offered: complex and long double, bit operations on floats. Threads: any.
#pragma once

#include <rdma/fi_atomic.h>

#include <cstddef>
#include <optional>

#include "livebtl/port.h"

namespace livebtl::fi {

/// fi_atomic, fi_fetch_atomic, fi_compare_atomic.
enum class AtomicFamily { kWrite, kFetch, kCompare };

struct ScalarFacts {
  Scalar scalar;
  std::size_t bytes;
  bool is_float;
};

/// Empty: not offered.
std::optional<ScalarFacts> scalar_facts(fi_datatype datatype) noexcept;
/// `op` as the engine names it. Requires atomic_offered().
AtomicOp engine_op(fi_op op) noexcept;
/// Is the pair offered in this family of calls?
bool atomic_offered(AtomicFamily family, const ScalarFacts& facts, fi_op op) noexcept;

}  // namespace livebtl::fi
