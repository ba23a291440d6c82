// SPDX-License-Identifier: BSD-3-Clause
// provider/atomic.cc -- fi_atomic, fi_fetch_atomic, fi_compare_atomic and their kin: executed by
// the target machine's CPUs. Not offered: complex and long double, bit operations on floats.
#include <array>
#include <cstring>
#include <optional>

#include "provider/ep.h"
#include "provider/provider.h"

namespace livebtl::fi {
namespace {

constexpr std::uint64_t kWritten = FI_ATOMIC | FI_WRITE;
constexpr std::uint64_t kFetched = FI_ATOMIC | FI_READ;

enum class Family { kWrite, kFetch, kCompare };

struct ScalarFacts {
  Scalar scalar;
  std::size_t bytes;
  bool is_float;
};

std::optional<ScalarFacts> facts_of(fi_datatype datatype) noexcept {
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

/// Is the pair offered in this family of calls?
bool offered(Family family, const ScalarFacts& facts, fi_op op) noexcept {
  if (facts.is_float && is_bit_op(op)) return false;
  const bool compares = op >= FI_CSWAP && op <= FI_MSWAP;
  if (op < FI_MIN || op > FI_MSWAP) return false;
  if (family == Family::kCompare) return compares;
  return !compares && (family == Family::kFetch || op != FI_ATOMIC_READ);
}

int valid(Family family, fi_datatype datatype, fi_op op, std::size_t* count) noexcept {
  const auto facts = facts_of(datatype);
  if (!facts || !offered(family, *facts, op)) return -FI_EOPNOTSUPP;
  if (count) *count = kAtomicBytesMax / facts->bytes;
  return 0;
}

/// Pieces of operands, one behind the other; the engine reads them during the call.
struct Gathered {
  std::size_t count = 0;
  const void* data = nullptr;
  std::byte copy[kAtomicBytesMax];
};

bool gather(const fi_ioc* pieces, std::size_t piece_count, std::size_t scalar_bytes,
            Gathered& into) noexcept {
  if (piece_count > kIovMax) return false;
  if (piece_count == 1) {
    into.count = pieces[0].count;
    into.data = pieces[0].addr;
    return into.count <= kAtomicBytesMax / scalar_bytes;
  }
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < piece_count; ++i) {
    if (pieces[i].count > (kAtomicBytesMax - bytes) / scalar_bytes) return false;
    const std::size_t piece_bytes = pieces[i].count * scalar_bytes;
    // An operation that only reads has counts and no addresses.
    if (pieces[i].addr) std::memcpy(into.copy + bytes, pieces[i].addr, piece_bytes);
    bytes += piece_bytes;
  }
  into.count = bytes / scalar_bytes;
  into.data = into.copy;
  return true;
}

/// One call in libfabric's terms.
struct Call {
  Family family;
  std::span<const fi_ioc> operands;
  std::span<const fi_ioc> compares;
  std::span<const fi_ioc> results;
  fi_addr_t to;
  Remote remote;
  fi_datatype datatype;
  fi_op op;
  Start start;
};

ssize_t start(fid_ep* ep, const Call& call) noexcept {
  const auto facts = facts_of(call.datatype);
  if (!facts || !offered(call.family, *facts, call.op)) return -FI_EOPNOTSUPP;
  Gathered operand;
  if (!gather(call.operands.data(), call.operands.size(), facts->bytes, operand)) return -FI_EINVAL;
  Gathered compare;
  if (!gather(call.compares.data(), call.compares.size(), facts->bytes, compare)) return -FI_EINVAL;
  if (call.results.size() > kIovMax) return -FI_EINVAL;
  MutableSlice results[kIovMax];
  std::size_t result_scalars = 0;
  for (std::size_t i = 0; i < call.results.size(); ++i) {
    results[i] = {call.results[i].addr, call.results[i].count * facts->bytes};
    result_scalars += call.results[i].count;
  }
  const bool reads_only = call.op == FI_ATOMIC_READ;
  AtomicRequest request;
  request.remote = call.remote;
  request.op = kOps[call.op];
  request.scalar = facts->scalar;
  request.count = reads_only ? result_scalars : operand.count;
  request.operand = reads_only ? nullptr : operand.data;
  if (call.family != Family::kWrite && result_scalars != request.count) return -FI_EINVAL;
  if (call.family == Family::kCompare) {
    if (compare.count != request.count) return -FI_EINVAL;
    request.compare = compare.data;
  }
  return Endpoint::of(ep).atomic(request, call.to, {results, call.results.size()}, call.start);
}

Start default_start(fid_ep* ep, void* context, std::uint64_t completion_flags) noexcept {
  return {context, Endpoint::of(ep).default_transmit(), completion_flags};
}
Start flagged_start(fid_ep* ep, const fi_msg_atomic* msg, std::uint64_t flags,
                    std::uint64_t completion_flags) noexcept {
  return {msg->context, Endpoint::of(ep).with_transmit(flags), completion_flags};
}
fi_ioc one(const void* data, std::size_t count) noexcept {
  return {const_cast<void*>(data), count};
}

ssize_t write(fid_ep* ep, const void* operand, size_t count, void*, fi_addr_t to, uint64_t address,
              uint64_t key, fi_datatype datatype, fi_op op, void* context) {
  const fi_ioc piece = one(operand, count);
  return start(ep, {Family::kWrite,
                    {&piece, 1},
                    {},
                    {},
                    to,
                    {key, address},
                    datatype,
                    op,
                    default_start(ep, context, kWritten)});
}

ssize_t write_v(fid_ep* ep, const fi_ioc* pieces, void**, size_t count, fi_addr_t to,
                uint64_t address, uint64_t key, fi_datatype datatype, fi_op op, void* context) {
  return start(ep, {Family::kWrite,
                    {pieces, count},
                    {},
                    {},
                    to,
                    {key, address},
                    datatype,
                    op,
                    default_start(ep, context, kWritten)});
}

ssize_t write_msg(fid_ep* ep, const fi_msg_atomic* msg, uint64_t flags) {
  if (msg->rma_iov_count != 1) return -FI_EINVAL;
  return start(ep, {Family::kWrite,
                    {msg->msg_iov, msg->iov_count},
                    {},
                    {},
                    msg->addr,
                    {msg->rma_iov[0].key, msg->rma_iov[0].addr},
                    msg->datatype,
                    msg->op,
                    flagged_start(ep, msg, flags, kWritten)});
}

ssize_t inject(fid_ep* ep, const void* operand, size_t count, fi_addr_t to, uint64_t address,
               uint64_t key, fi_datatype datatype, fi_op op) {
  const fi_ioc piece = one(operand, count);
  return start(ep, {Family::kWrite,
                    {&piece, 1},
                    {},
                    {},
                    to,
                    {key, address},
                    datatype,
                    op,
                    {nullptr, 0, kWritten}});
}

ssize_t fetch(fid_ep* ep, const void* operand, size_t count, void*, void* result, void*,
              fi_addr_t to, uint64_t address, uint64_t key, fi_datatype datatype, fi_op op,
              void* context) {
  const fi_ioc piece = one(operand, count);
  const fi_ioc place = one(result, count);
  return start(ep, {Family::kFetch,
                    {&piece, 1},
                    {},
                    {&place, 1},
                    to,
                    {key, address},
                    datatype,
                    op,
                    default_start(ep, context, kFetched)});
}

ssize_t fetch_v(fid_ep* ep, const fi_ioc* pieces, void**, size_t count, fi_ioc* results, void**,
                size_t result_count, fi_addr_t to, uint64_t address, uint64_t key,
                fi_datatype datatype, fi_op op, void* context) {
  return start(ep, {Family::kFetch,
                    {pieces, count},
                    {},
                    {results, result_count},
                    to,
                    {key, address},
                    datatype,
                    op,
                    default_start(ep, context, kFetched)});
}

ssize_t fetch_msg(fid_ep* ep, const fi_msg_atomic* msg, fi_ioc* results, void**,
                  size_t result_count, uint64_t flags) {
  if (msg->rma_iov_count != 1) return -FI_EINVAL;
  return start(ep, {Family::kFetch,
                    {msg->msg_iov, msg->iov_count},
                    {},
                    {results, result_count},
                    msg->addr,
                    {msg->rma_iov[0].key, msg->rma_iov[0].addr},
                    msg->datatype,
                    msg->op,
                    flagged_start(ep, msg, flags, kFetched)});
}

ssize_t compare(fid_ep* ep, const void* operand, size_t count, void*, const void* compare_with,
                void*, void* result, void*, fi_addr_t to, uint64_t address, uint64_t key,
                fi_datatype datatype, fi_op op, void* context) {
  const fi_ioc piece = one(operand, count);
  const fi_ioc compared = one(compare_with, count);
  const fi_ioc place = one(result, count);
  return start(ep, {Family::kCompare,
                    {&piece, 1},
                    {&compared, 1},
                    {&place, 1},
                    to,
                    {key, address},
                    datatype,
                    op,
                    default_start(ep, context, kFetched)});
}

ssize_t compare_v(fid_ep* ep, const fi_ioc* pieces, void**, size_t count, const fi_ioc* compares,
                  void**, size_t compare_count, fi_ioc* results, void**, size_t result_count,
                  fi_addr_t to, uint64_t address, uint64_t key, fi_datatype datatype, fi_op op,
                  void* context) {
  return start(ep, {Family::kCompare,
                    {pieces, count},
                    {compares, compare_count},
                    {results, result_count},
                    to,
                    {key, address},
                    datatype,
                    op,
                    default_start(ep, context, kFetched)});
}

ssize_t compare_msg(fid_ep* ep, const fi_msg_atomic* msg, const fi_ioc* compares, void**,
                    size_t compare_count, fi_ioc* results, void**, size_t result_count,
                    uint64_t flags) {
  if (msg->rma_iov_count != 1) return -FI_EINVAL;
  return start(ep, {Family::kCompare,
                    {msg->msg_iov, msg->iov_count},
                    {compares, compare_count},
                    {results, result_count},
                    msg->addr,
                    {msg->rma_iov[0].key, msg->rma_iov[0].addr},
                    msg->datatype,
                    msg->op,
                    flagged_start(ep, msg, flags, kFetched)});
}

int write_valid(fid_ep*, fi_datatype datatype, fi_op op, size_t* count) {
  return valid(Family::kWrite, datatype, op, count);
}
int fetch_valid(fid_ep*, fi_datatype datatype, fi_op op, size_t* count) {
  return valid(Family::kFetch, datatype, op, count);
}
int compare_valid(fid_ep*, fi_datatype datatype, fi_op op, size_t* count) {
  return valid(Family::kCompare, datatype, op, count);
}

}  // namespace

int query_atomic(fid_domain*, fi_datatype datatype, fi_op op, fi_atomic_attr* attr,
                 uint64_t flags) {
  Family family = Family::kWrite;
  if (flags & FI_FETCH_ATOMIC) family = Family::kFetch;
  if (flags & FI_COMPARE_ATOMIC) family = Family::kCompare;
  const auto facts = facts_of(datatype);
  if (attr && facts) attr->size = facts->bytes;
  return valid(family, datatype, op, attr ? &attr->count : nullptr);
}

fi_ops_atomic atomic_ops = {
    .size = sizeof(fi_ops_atomic),
    .write = write,
    .writev = write_v,
    .writemsg = write_msg,
    .inject = inject,
    .readwrite = fetch,
    .readwritev = fetch_v,
    .readwritemsg = fetch_msg,
    .compwrite = compare,
    .compwritev = compare_v,
    .compwritemsg = compare_msg,
    .writevalid = write_valid,
    .readwritevalid = fetch_valid,
    .compwritevalid = compare_valid,
};

}  // namespace livebtl::fi
