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

// In the order of enum fi_datatype.
constexpr std::array<ScalarFacts, 10> kScalars = {{
    {Scalar::kI8, 1, false},
    {Scalar::kU8, 1, false},
    {Scalar::kI16, 2, false},
    {Scalar::kU16, 2, false},
    {Scalar::kI32, 4, false},
    {Scalar::kU32, 4, false},
    {Scalar::kI64, 8, false},
    {Scalar::kU64, 8, false},
    {Scalar::kF32, 4, true},
    {Scalar::kF64, 8, true},
}};
static_assert(FI_INT8 == 0 && FI_DOUBLE == kScalars.size() - 1);

bool is_bit_op(fi_op op) noexcept {
  return op == FI_BOR || op == FI_BAND || op == FI_BXOR || op == FI_MSWAP;
}

}  // namespace

std::optional<ScalarFacts> scalar_facts(fi_datatype datatype) noexcept {
  const auto index = static_cast<std::size_t>(datatype);
  return index < kScalars.size() ? std::optional(kScalars[index]) : std::nullopt;
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
