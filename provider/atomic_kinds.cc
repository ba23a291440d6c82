// SPDX-License-Identifier: BSD-3-Clause
// provider/atomic_kinds.cc -- see atomic_kinds.h.
#include "provider/atomic_kinds.h"

#include <array>

namespace livebtl::fi {
namespace {

// In the order of enum fi_op.
constexpr std::array<AtomicOp, FI_ATOMIC_OP_LAST> kOps = {
    AtomicOp::kMin,           AtomicOp::kMax,           AtomicOp::kSum,
    AtomicOp::kProd,          AtomicOp::kLogicalOr,     AtomicOp::kLogicalAnd,
    AtomicOp::kBitOr,         AtomicOp::kBitAnd,        AtomicOp::kLogicalXor,
    AtomicOp::kBitXor,        AtomicOp::kRead,          AtomicOp::kWrite,
    AtomicOp::kCompareSwap,   AtomicOp::kCompareSwapNe, AtomicOp::kCompareSwapLe,
    AtomicOp::kCompareSwapLt, AtomicOp::kCompareSwapGe, AtomicOp::kCompareSwapGt,
    AtomicOp::kMaskedSwap,
};

bool is_bit_op(fi_op op) noexcept {
  return op == FI_BOR || op == FI_BAND || op == FI_BXOR || op == FI_MSWAP;
}

}  // namespace

std::optional<ScalarFacts> scalar_facts(fi_datatype datatype) noexcept {
  switch (datatype) {
    case FI_INT8:
      return ScalarFacts{Scalar::kI8, 1, false};
    case FI_UINT8:
      return ScalarFacts{Scalar::kU8, 1, false};
    case FI_INT16:
      return ScalarFacts{Scalar::kI16, 2, false};
    case FI_UINT16:
      return ScalarFacts{Scalar::kU16, 2, false};
    case FI_INT32:
      return ScalarFacts{Scalar::kI32, 4, false};
    case FI_UINT32:
      return ScalarFacts{Scalar::kU32, 4, false};
    case FI_INT64:
      return ScalarFacts{Scalar::kI64, 8, false};
    case FI_UINT64:
      return ScalarFacts{Scalar::kU64, 8, false};
    case FI_FLOAT:
      return ScalarFacts{Scalar::kF32, 4, true};
    case FI_DOUBLE:
      return ScalarFacts{Scalar::kF64, 8, true};
    default:
      return std::nullopt;
  }
}

AtomicOp engine_op(fi_op op) noexcept { return kOps[op]; }

bool atomic_offered(AtomicFamily family, const ScalarFacts& facts, fi_op op) noexcept {
  if (facts.is_float && is_bit_op(op)) return false;
  const bool compares = op >= FI_CSWAP && op <= FI_MSWAP;
  if (op < FI_MIN || op > FI_MSWAP) return false;
  if (family == AtomicFamily::kCompare) return compares;
  return !compares && (family == AtomicFamily::kFetch || op != FI_ATOMIC_READ);
}

}  // namespace livebtl::fi
