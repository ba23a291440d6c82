// SPDX-License-Identifier: BSD-3-Clause
// core/lane/atomics.cc -- every operation on every scalar, by an instruction where the CPU has one,
// else by compare-exchange.
//
// Pure; may run concurrently with anybody's CPU atomics on the same memory, which is its purpose.
// Integer arithmetic wraps: it is done in unsigned 64 bits and cut to the scalar's width.
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

/// Replaces the target atomically; returns the previous value. next(before, after) computes what to
/// store, and returns false if nothing is to be stored.
template <class T, class Next>
T exchange_loop(std::atomic_ref<T> target, Next next) noexcept {
  T before = target.load();
  T after{};
  while (next(before, after) && !target.compare_exchange_weak(before, after)) {
  }
  return before;
}

/// The target's new value, for operations without compare operands.
template <class T>
T combined(AtomicOp op, T before, T operand) noexcept {
  // Integers wrap.
  using Wide = std::conditional_t<kFloat<T>, T, std::uint64_t>;
  const auto wide = [](T value) { return static_cast<Wide>(value); };
  switch (op) {
    case AtomicOp::kMin:
      return operand < before ? operand : before;
    case AtomicOp::kMax:
      return operand > before ? operand : before;
    case AtomicOp::kSum:
      return static_cast<T>(wide(before) + wide(operand));
    case AtomicOp::kProd:
      return static_cast<T>(wide(before) * wide(operand));
    case AtomicOp::kLogicalOr:
      return static_cast<T>(before != T{} || operand != T{});
    case AtomicOp::kLogicalAnd:
      return static_cast<T>(before != T{} && operand != T{});
    case AtomicOp::kLogicalXor:
      return static_cast<T>((before != T{}) != (operand != T{}));
    default:
      return before;
  }
}

template <class T>
T update(AtomicOp op, std::atomic_ref<T> target, T operand) noexcept {
  if (op == AtomicOp::kRead) return target.load();
  if (op == AtomicOp::kWrite) return target.exchange(operand);
  if constexpr (!kFloat<T>) {
    if (op == AtomicOp::kSum) return target.fetch_add(operand);
    if (op == AtomicOp::kBitOr) return target.fetch_or(operand);
    if (op == AtomicOp::kBitAnd) return target.fetch_and(operand);
    if (op == AtomicOp::kBitXor) return target.fetch_xor(operand);
  }
  return exchange_loop(target, [&](T before, T& after) {
    after = combined(op, before, operand);
    return true;
  });
}

template <class T>
bool relation(AtomicOp op, T compare, T target) noexcept {
  return (op == AtomicOp::kCompareSwap && compare == target) ||
         (op == AtomicOp::kCompareSwapNe && compare != target) ||
         (op == AtomicOp::kCompareSwapLe && compare <= target) ||
         (op == AtomicOp::kCompareSwapLt && compare < target) ||
         (op == AtomicOp::kCompareSwapGe && compare >= target) ||
         (op == AtomicOp::kCompareSwapGt && compare > target);
}

template <class T>
T swap_if(AtomicOp op, std::atomic_ref<T> target, T operand, T compare) noexcept {
  return exchange_loop(target, [&](T before, T& after) {
    after = operand;
    if constexpr (!kFloat<T>) {
      if (op == AtomicOp::kMaskedSwap) {
        after = static_cast<T>((operand & compare) | (before & ~compare));
        return true;
      }
    }
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
    const T value = op == AtomicOp::kRead ? T{} : load_any<T>(operand, i);
    const T before =
        needs_compare(op) ? swap_if(op, at, value, load_any<T>(compare, i)) : update(op, at, value);
    if (fetched != nullptr)
      std::memcpy(static_cast<std::byte*>(fetched) + i * sizeof(T), &before, sizeof(T));
  }
  return true;
}

bool is_float(Scalar scalar) noexcept { return scalar == Scalar::kF32 || scalar == Scalar::kF64; }

bool is_bitwise(AtomicOp op) noexcept {
  return op == AtomicOp::kBitOr || op == AtomicOp::kBitAnd || op == AtomicOp::kBitXor ||
         op == AtomicOp::kMaskedSwap;
}

/// act(T{}) with the type that the scalar names.
template <class Act>
auto with_type(Scalar scalar, Act act) noexcept -> decltype(act(char{})) {
  switch (scalar) {
    case Scalar::kI8:
      return act(std::int8_t{});
    case Scalar::kU8:
      return act(std::uint8_t{});
    case Scalar::kI16:
      return act(std::int16_t{});
    case Scalar::kU16:
      return act(std::uint16_t{});
    case Scalar::kI32:
      return act(std::int32_t{});
    case Scalar::kU32:
      return act(std::uint32_t{});
    case Scalar::kI64:
      return act(std::int64_t{});
    case Scalar::kU64:
      return act(std::uint64_t{});
    case Scalar::kF32:
      return act(float{});
    case Scalar::kF64:
      return act(double{});
  }
  return {};
}

}  // namespace

std::size_t scalar_bytes(Scalar scalar) noexcept {
  return with_type(scalar, [](auto typed) { return sizeof(typed); });
}

bool atomic_supported(AtomicOp op, Scalar scalar) noexcept {
  // Both may be any byte from the wire.
  return op <= AtomicOp::kMaskedSwap && scalar <= Scalar::kF64 &&
         !(is_float(scalar) && is_bitwise(op));
}

bool execute_atomic(AtomicOp op, Scalar scalar, std::size_t count, void* target,
                    const void* operand, const void* compare, void* fetched) noexcept {
  if (!atomic_supported(op, scalar) || target == nullptr) return false;
  if (op != AtomicOp::kRead && operand == nullptr) return false;
  if (needs_compare(op) && compare == nullptr) return false;
  return with_type(scalar, [&](auto typed) {
    return execute<decltype(typed)>(op, count, target, operand, compare, fetched);
  });
}

}  // namespace livebtl::core
