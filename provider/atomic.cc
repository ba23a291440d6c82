// SPDX-License-Identifier: BSD-3-Clause
// provider/atomic.cc -- fi_atomic, fi_fetch_atomic, fi_compare_atomic and their kin: executed by
// the target machine's CPUs. atomic_kinds.h says which are offered.
#include <cstring>

#include "provider/atomic_kinds.h"
#include "provider/ep.h"
#include "provider/provider.h"

namespace livebtl::fi {
namespace {

using Family = AtomicFamily;

constexpr std::uint64_t kWritten = FI_ATOMIC | FI_WRITE;
constexpr std::uint64_t kFetched = FI_ATOMIC | FI_READ;

/// The pieces of an operand, joined; the engine reads them during the call.
struct Gathered {
  std::size_t count = 0;
  const void* data = nullptr;
  std::byte copy[kAtomicBytesMax];
};

bool gather(std::span<const fi_ioc> pieces, std::size_t scalar_bytes, Gathered& into) noexcept {
  if (pieces.size() > kIovMax) return false;
  if (pieces.size() == 1) {
    into.count = pieces[0].count;
    into.data = pieces[0].addr;
    return into.count <= kAtomicBytesMax / scalar_bytes;
  }
  std::size_t bytes = 0;
  for (const fi_ioc& piece : pieces) {
    if (piece.count > (kAtomicBytesMax - bytes) / scalar_bytes) return false;
    const std::size_t piece_bytes = piece.count * scalar_bytes;
    // An operation that only reads has counts but no addresses.
    if (piece.addr) std::memcpy(into.copy + bytes, piece.addr, piece_bytes);
    bytes += piece_bytes;
  }
  into.count = bytes / scalar_bytes;
  into.data = into.copy;
  return true;
}

struct Operands {
  std::span<const fi_ioc> values;
  std::span<const fi_ioc> compares{};
  std::span<const fi_ioc> results{};
};

struct Target {
  fi_addr_t to;
  Remote remote;
  fi_datatype datatype;
  fi_op op;
};

ssize_t start(fid_ep* ep, Family family, const Operands& operands, const Target& target,
              const Start& how) noexcept {
  const auto facts = scalar_facts(target.datatype);
  if (!facts || !atomic_offered(family, *facts, target.op)) return -FI_EOPNOTSUPP;
  Gathered values, compares;
  if (!gather(operands.values, facts->bytes, values) ||
      !gather(operands.compares, facts->bytes, compares) || operands.results.size() > kIovMax)
    return -FI_EINVAL;
  MutableSlice results[kIovMax];
  std::size_t result_scalars = 0;
  for (std::size_t i = 0; i < operands.results.size(); ++i) {
    results[i] = {operands.results[i].addr, operands.results[i].count * facts->bytes};
    result_scalars += operands.results[i].count;
  }
  const bool reads_only = target.op == FI_ATOMIC_READ;
  AtomicRequest request;
  request.remote = target.remote;
  request.op = engine_op(target.op);
  request.scalar = facts->scalar;
  request.count = reads_only ? result_scalars : values.count;
  request.operand = reads_only ? nullptr : values.data;
  if (family != Family::kWrite && result_scalars != request.count) return -FI_EINVAL;
  if (family == Family::kCompare) {
    if (compares.count != request.count) return -FI_EINVAL;
    request.compare = compares.data;
  }
  return Endpoint::of(ep).atomic(request, target.to, {results, operands.results.size()}, how);
}

int valid(Family family, fi_datatype datatype, fi_op op, std::size_t* count) noexcept {
  const auto facts = scalar_facts(datatype);
  if (!facts || !atomic_offered(family, *facts, op)) return -FI_EOPNOTSUPP;
  if (count) *count = kAtomicBytesMax / facts->bytes;
  return 0;
}

Start default_start(fid_ep* ep, void* context, std::uint64_t completion_flags) noexcept {
  return {context, Endpoint::of(ep).default_transmit(), completion_flags};
}
Start flagged_start(fid_ep* ep, const fi_msg_atomic* msg, std::uint64_t flags,
                    std::uint64_t completion_flags) noexcept {
  return {msg->context, Endpoint::of(ep).with_transmit(flags), completion_flags};
}
Target target_of(const fi_msg_atomic* msg) noexcept {
  return {msg->addr, {msg->rma_iov[0].key, msg->rma_iov[0].addr}, msg->datatype, msg->op};
}
fi_ioc one(const void* data, std::size_t count) noexcept {
  return {const_cast<void*>(data), count};
}

ssize_t write_v(fid_ep* ep, const fi_ioc* pieces, void**, size_t count, fi_addr_t to,
                uint64_t address, uint64_t key, fi_datatype datatype, fi_op op, void* context) {
  return start(ep, Family::kWrite, {{pieces, count}}, {to, {key, address}, datatype, op},
               default_start(ep, context, kWritten));
}

ssize_t write(fid_ep* ep, const void* operand, size_t count, void*, fi_addr_t to, uint64_t address,
              uint64_t key, fi_datatype datatype, fi_op op, void* context) {
  const fi_ioc piece = one(operand, count);
  return write_v(ep, &piece, nullptr, 1, to, address, key, datatype, op, context);
}

ssize_t write_msg(fid_ep* ep, const fi_msg_atomic* msg, uint64_t flags) {
  if (msg->rma_iov_count != 1) return -FI_EINVAL;
  return start(ep, Family::kWrite, {{msg->msg_iov, msg->iov_count}}, target_of(msg),
               flagged_start(ep, msg, flags, kWritten));
}

ssize_t inject(fid_ep* ep, const void* operand, size_t count, fi_addr_t to, uint64_t address,
               uint64_t key, fi_datatype datatype, fi_op op) {
  const fi_ioc piece = one(operand, count);
  return start(ep, Family::kWrite, {{&piece, 1}}, {to, {key, address}, datatype, op},
               {nullptr, 0, kWritten});
}

ssize_t fetch_v(fid_ep* ep, const fi_ioc* pieces, void**, size_t count, fi_ioc* results, void**,
                size_t result_count, fi_addr_t to, uint64_t address, uint64_t key,
                fi_datatype datatype, fi_op op, void* context) {
  return start(ep, Family::kFetch, {{pieces, count}, {}, {results, result_count}},
               {to, {key, address}, datatype, op}, default_start(ep, context, kFetched));
}

ssize_t fetch(fid_ep* ep, const void* operand, size_t count, void*, void* result, void*,
              fi_addr_t to, uint64_t address, uint64_t key, fi_datatype datatype, fi_op op,
              void* context) {
  const fi_ioc piece = one(operand, count);
  fi_ioc place = one(result, count);
  return fetch_v(ep, &piece, nullptr, 1, &place, nullptr, 1, to, address, key, datatype, op,
                 context);
}

ssize_t fetch_msg(fid_ep* ep, const fi_msg_atomic* msg, fi_ioc* results, void**,
                  size_t result_count, uint64_t flags) {
  if (msg->rma_iov_count != 1) return -FI_EINVAL;
  return start(ep, Family::kFetch, {{msg->msg_iov, msg->iov_count}, {}, {results, result_count}},
               target_of(msg), flagged_start(ep, msg, flags, kFetched));
}

ssize_t compare(fid_ep* ep, const void* operand, size_t count, void*, const void* compare_with,
                void*, void* result, void*, fi_addr_t to, uint64_t address, uint64_t key,
                fi_datatype datatype, fi_op op, void* context) {
  const fi_ioc piece = one(operand, count);
  const fi_ioc compared = one(compare_with, count);
  const fi_ioc place = one(result, count);
  return start(ep, Family::kCompare, {{&piece, 1}, {&compared, 1}, {&place, 1}},
               {to, {key, address}, datatype, op}, default_start(ep, context, kFetched));
}

ssize_t compare_v(fid_ep* ep, const fi_ioc* pieces, void**, size_t count, const fi_ioc* compares,
                  void**, size_t compare_count, fi_ioc* results, void**, size_t result_count,
                  fi_addr_t to, uint64_t address, uint64_t key, fi_datatype datatype, fi_op op,
                  void* context) {
  return start(ep, Family::kCompare,
               {{pieces, count}, {compares, compare_count}, {results, result_count}},
               {to, {key, address}, datatype, op}, default_start(ep, context, kFetched));
}

ssize_t compare_msg(fid_ep* ep, const fi_msg_atomic* msg, const fi_ioc* compares, void**,
                    size_t compare_count, fi_ioc* results, void**, size_t result_count,
                    uint64_t flags) {
  if (msg->rma_iov_count != 1) return -FI_EINVAL;
  return start(ep, Family::kCompare,
               {{msg->msg_iov, msg->iov_count}, {compares, compare_count}, {results, result_count}},
               target_of(msg), flagged_start(ep, msg, flags, kFetched));
}

template <Family kFamily>
int valid_for(fid_ep*, fi_datatype datatype, fi_op op, size_t* count) {
  return valid(kFamily, datatype, op, count);
}

}  // namespace

int query_atomic(fid_domain*, fi_datatype datatype, fi_op op, fi_atomic_attr* attr,
                 uint64_t flags) {
  Family family = Family::kWrite;
  if (flags & FI_FETCH_ATOMIC) family = Family::kFetch;
  if (flags & FI_COMPARE_ATOMIC) family = Family::kCompare;
  const auto facts = scalar_facts(datatype);
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
    .writevalid = valid_for<Family::kWrite>,
    .readwritevalid = valid_for<Family::kFetch>,
    .compwritevalid = valid_for<Family::kCompare>,
};

}  // namespace livebtl::fi
