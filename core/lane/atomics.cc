// SPDX-License-Identifier: BSD-3-Clause
// core/lane/atomics.cc -- every operation on every scalar, by instructions where the CPU has one, else
// by compare-exchange.
//
// Pure; may run beside anybody else's CPU atomics on the same memory, which is the point of it.
// Integer arithmetic wraps: it is done in 64 bits without sign and cut to the scalar's width.
#include "core/lane/atomics.h"

#include <atomic>
#include <cstring>
#include <type_traits>

namespace livebtl::core {
bool needs_compare(AtomicOp op) noexcept { return op >= AtomicOp::kCompareSwap; }

namespace {

template <class T>
constexpr bool kFloat = std::is_floating_point_v<T>;

template <class T>
T load_any(const void* from, std::size_t index) noexcept {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(from) + index * sizeof(T), sizeof(T));
  return value;
}

template <class T>
T wrapped(std::uint64_t bits) noexcept {
  return static_cast<T>(bits);
}

template <class T>
T sum(T one, T other) noexcept {
  if constexpr (kFloat<T>)
    return one + other;
  else
    return wrapped<T>(static_cast<std::uint64_t>(one) + static_cast<std::uint64_t>(other));
}
template <class T>
T product(T one, T other) noexcept {
  if constexpr (kFloat<T>)
    return one * other;
  else
    return wrapped<T>(static_cast<std::uint64_t>(one) * static_cast<std::uint64_t>(other));
}
template <class T>
T truth(bool value) noexcept {
  return static_cast<T>(value ? 1 : 0);
}

/// Replaces the target in one atomic step; answers what was there. next(before, after) computes
/// what to store, and answers false when nothing is to be stored.
template <class T, class Next>
T exchange_loop(std::atomic_ref<T> target, Next next) noexcept {
  T before = target.load();
  T after{};
  while (next(before, after) && !target.compare_exchange_weak(before, after)) {
  }
  return before;
}

template <class T>
T update(AtomicOp op, std::atomic_ref<T> target, T operand) noexcept {
  const auto by = [&](auto compute) {
    return exchange_loop(target, [&](T before, T& after) {
      after = compute(before);
      return true;
    });
  };
  if constexpr (!kFloat<T>) {
    switch (op) {
      case AtomicOp::kSum:
        return target.fetch_add(operand);
      case AtomicOp::kBitOr:
        return target.fetch_or(operand);
      case AtomicOp::kBitAnd:
        return target.fetch_and(operand);
      case AtomicOp::kBitXor:
        return target.fetch_xor(operand);
      default:
        break;
    }
  }
  switch (op) {
    case AtomicOp::kMin:
      return by([&](T before) { return operand < before ? operand : before; });
    case AtomicOp::kMax:
      return by([&](T before) { return operand > before ? operand : before; });
    case AtomicOp::kSum:
      return by([&](T before) { return sum(before, operand); });
    case AtomicOp::kProd:
      return by([&](T before) { return product(before, operand); });
    case AtomicOp::kLogicalOr:
      return by([&](T before) { return truth<T>(before != T{} || operand != T{}); });
    case AtomicOp::kLogicalAnd:
      return by([&](T before) { return truth<T>(before != T{} && operand != T{}); });
    case AtomicOp::kLogicalXor:
      return by([&](T before) { return truth<T>((before != T{}) != (operand != T{})); });
    case AtomicOp::kWrite:
      return target.exchange(operand);
    default:
      return target.load();
  }
}

template <class T>
bool relation(AtomicOp op, T compare, T target) noexcept {
  switch (op) {
    case AtomicOp::kCompareSwap:
      return compare == target;
    case AtomicOp::kCompareSwapNe:
      return compare != target;
    case AtomicOp::kCompareSwapLe:
      return compare <= target;
    case AtomicOp::kCompareSwapLt:
      return compare < target;
    case AtomicOp::kCompareSwapGe:
      return compare >= target;
    case AtomicOp::kCompareSwapGt:
      return compare > target;
    default:
      return false;
  }
}

template <class T>
T swap_if(AtomicOp op, std::atomic_ref<T> target, T operand, T compare) noexcept {
  if constexpr (!kFloat<T>) {
    if (op == AtomicOp::kMaskedSwap) {
      return exchange_loop(target, [&](T before, T& after) {
        after = static_cast<T>((operand & compare) | (before & ~compare));
        return true;
      });
    }
  }
  return exchange_loop(target, [&](T before, T& after) {
    after = operand;
    return relation(op, compare, before);
  });
}

template <class T>
bool execute(AtomicOp op, std::size_t count, void* target, const void* operand, const void* compare,
             void* fetched) noexcept {
  static_assert(std::atomic_ref<T>::is_always_lock_free,
                "a hidden lock would not be shared with others' atomics");
  if (reinterpret_cast<std::uintptr_t>(target) % std::atomic_ref<T>::required_alignment != 0)
    return false;
  for (std::size_t i = 0; i < count; ++i) {
    const std::atomic_ref<T> at(static_cast<T*>(target)[i]);
    T before{};
    if (op == AtomicOp::kRead) {
      before = at.load();
    } else if (needs_compare(op)) {
      before = swap_if(op, at, load_any<T>(operand, i), load_any<T>(compare, i));
    } else {
      before = update(op, at, load_any<T>(operand, i));
    }
    if (fetched != nullptr) {
      std::memcpy(static_cast<std::byte*>(fetched) + i * sizeof(T), &before, sizeof(T));
    }
  }
  return true;
}

bool is_float(Scalar scalar) noexcept { return scalar == Scalar::kF32 || scalar == Scalar::kF64; }

bool is_bitwise(AtomicOp op) noexcept {
  return op == AtomicOp::kBitOr || op == AtomicOp::kBitAnd || op == AtomicOp::kBitXor ||
         op == AtomicOp::kMaskedSwap;
}

}  // namespace

std::size_t scalar_bytes(Scalar scalar) noexcept {
  switch (scalar) {
    case Scalar::kI8:
    case Scalar::kU8:
      return 1;
    case Scalar::kI16:
    case Scalar::kU16:
      return 2;
    case Scalar::kI32:
    case Scalar::kU32:
    case Scalar::kF32:
      return 4;
    case Scalar::kI64:
    case Scalar::kU64:
    case Scalar::kF64:
      return 8;
  }
  return 0;
}

bool atomic_supported(AtomicOp op, Scalar scalar) noexcept {
  // Both may come from the wire: any byte.
  return op <= AtomicOp::kMaskedSwap && scalar <= Scalar::kF64 &&
         !(is_float(scalar) && is_bitwise(op));
}

bool execute_atomic(AtomicOp op, Scalar scalar, std::size_t count, void* target,
                    const void* operand, const void* compare, void* fetched) noexcept {
  if (!atomic_supported(op, scalar) || target == nullptr) return false;
  if (op != AtomicOp::kRead && operand == nullptr) return false;
  if (needs_compare(op) && compare == nullptr) return false;
  switch (scalar) {
    case Scalar::kI8:
      return execute<std::int8_t>(op, count, target, operand, compare, fetched);
    case Scalar::kU8:
      return execute<std::uint8_t>(op, count, target, operand, compare, fetched);
    case Scalar::kI16:
      return execute<std::int16_t>(op, count, target, operand, compare, fetched);
    case Scalar::kU16:
      return execute<std::uint16_t>(op, count, target, operand, compare, fetched);
    case Scalar::kI32:
      return execute<std::int32_t>(op, count, target, operand, compare, fetched);
    case Scalar::kU32:
      return execute<std::uint32_t>(op, count, target, operand, compare, fetched);
    case Scalar::kI64:
      return execute<std::int64_t>(op, count, target, operand, compare, fetched);
    case Scalar::kU64:
      return execute<std::uint64_t>(op, count, target, operand, compare, fetched);
    case Scalar::kF32:
      return execute<float>(op, count, target, operand, compare, fetched);
    case Scalar::kF64:
      return execute<double>(op, count, target, operand, compare, fetched);
  }
  return false;
}

}  // namespace livebtl::core
