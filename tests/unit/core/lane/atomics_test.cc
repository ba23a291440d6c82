// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/lane/atomics_test.cc -- every operation on every scalar, against plain arithmetic
// and with threads.
#include "core/lane/atomics.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "base/random.h"

using namespace livebtl;
using namespace livebtl::core;

namespace {

constexpr int kOps = static_cast<int>(AtomicOp::kMaskedSwap) + 1;
constexpr int kScalars = static_cast<int>(Scalar::kF64) + 1;

template <class T>
constexpr bool kIsFloat = std::is_floating_point_v<T>;

/// What the target holds afterwards, in the terms of fi_atomic(3): buf is the operand, addr the
/// target.
template <class T>
T plain_result(AtomicOp op, T addr, T buf, T compare) {
  const auto wide = [](T value) { return static_cast<std::uint64_t>(value); };
  if constexpr (!kIsFloat<T>) {
    switch (op) {
      case AtomicOp::kSum:
        return static_cast<T>(wide(addr) + wide(buf));
      case AtomicOp::kProd:
        return static_cast<T>(wide(addr) * wide(buf));
      case AtomicOp::kBitOr:
        return static_cast<T>(addr | buf);
      case AtomicOp::kBitAnd:
        return static_cast<T>(addr & buf);
      case AtomicOp::kBitXor:
        return static_cast<T>(addr ^ buf);
      case AtomicOp::kMaskedSwap:
        return static_cast<T>((buf & compare) | (addr & ~compare));
      default:
        break;
    }
  }
  switch (op) {
    case AtomicOp::kMin:
      return std::min(addr, buf);
    case AtomicOp::kMax:
      return std::max(addr, buf);
    case AtomicOp::kSum:
      return addr + buf;
    case AtomicOp::kProd:
      return addr * buf;
    case AtomicOp::kLogicalOr:
      return static_cast<T>((addr != 0) || (buf != 0));
    case AtomicOp::kLogicalAnd:
      return static_cast<T>((addr != 0) && (buf != 0));
    case AtomicOp::kLogicalXor:
      return static_cast<T>((addr != 0) != (buf != 0));
    case AtomicOp::kRead:
      return addr;
    case AtomicOp::kWrite:
      return buf;
    case AtomicOp::kCompareSwap:
      return compare == addr ? buf : addr;
    case AtomicOp::kCompareSwapNe:
      return compare != addr ? buf : addr;
    case AtomicOp::kCompareSwapLe:
      return compare <= addr ? buf : addr;
    case AtomicOp::kCompareSwapLt:
      return compare < addr ? buf : addr;
    case AtomicOp::kCompareSwapGe:
      return compare >= addr ? buf : addr;
    case AtomicOp::kCompareSwapGt:
      return compare > addr ? buf : addr;
    default:
      return addr;
  }
}

template <class T>
T random_value(Random& random) {
  if (random.chance(0.3))
    return static_cast<T>(random.below(3));  // so that equal values and zeros occur
  if constexpr (kIsFloat<T>) {
    return static_cast<T>(static_cast<std::int64_t>(random.below(2001)) - 1000) / 8;
  } else {
    return static_cast<T>(random.next());
  }
}

/// Runs `count` scalars with misaligned operands; counts how many targets changed.
template <class T>
std::size_t compare_with_plain(AtomicOp op, Scalar scalar, Random& random) {
  constexpr std::size_t kCount = 5;
  alignas(8) T target[kCount];
  T before[kCount], operand[kCount], compare[kCount], fetched[kCount];
  for (std::size_t i = 0; i < kCount; ++i) {
    before[i] = target[i] = random_value<T>(random);
    operand[i] = random_value<T>(random);
    compare[i] = random_value<T>(random);
  }
  std::byte crooked[3][sizeof operand + 1];
  std::memcpy(crooked[0] + 1, operand, sizeof operand);
  std::memcpy(crooked[1] + 1, compare, sizeof compare);
  REQUIRE(
      execute_atomic(op, scalar, kCount, target, crooked[0] + 1, crooked[1] + 1, crooked[2] + 1));
  std::memcpy(fetched, crooked[2] + 1, sizeof fetched);
  std::size_t changed = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const T wanted = plain_result(op, before[i], operand[i], compare[i]);
    REQUIRE(std::memcmp(&target[i], &wanted, sizeof(T)) == 0);
    REQUIRE(std::memcmp(&fetched[i], &before[i], sizeof(T)) == 0);
    changed += before[i] != target[i] ? 1 : 0;
  }
  return changed;
}

std::size_t compare_with_plain(AtomicOp op, Scalar scalar, Random& random, int) {
  switch (scalar) {
    case Scalar::kI8:
      return compare_with_plain<std::int8_t>(op, scalar, random);
    case Scalar::kU8:
      return compare_with_plain<std::uint8_t>(op, scalar, random);
    case Scalar::kI16:
      return compare_with_plain<std::int16_t>(op, scalar, random);
    case Scalar::kU16:
      return compare_with_plain<std::uint16_t>(op, scalar, random);
    case Scalar::kI32:
      return compare_with_plain<std::int32_t>(op, scalar, random);
    case Scalar::kU32:
      return compare_with_plain<std::uint32_t>(op, scalar, random);
    case Scalar::kI64:
      return compare_with_plain<std::int64_t>(op, scalar, random);
    case Scalar::kU64:
      return compare_with_plain<std::uint64_t>(op, scalar, random);
    case Scalar::kF32:
      return compare_with_plain<float>(op, scalar, random);
    case Scalar::kF64:
      return compare_with_plain<double>(op, scalar, random);
  }
  return 0;
}

/// Four threads at once, each running `body` a number of times.
template <class Body>
void in_four_threads(Body body) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&body, thread] {
      for (int round = 0; round < 20'000; ++round) body(thread);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("every supported pair does what plain arithmetic does, and fetches what was there") {
  Random random(5);
  int pairs = 0;
  for (int o = 0; o < kOps; ++o) {
    for (int s = 0; s < kScalars; ++s) {
      const auto op = static_cast<AtomicOp>(o);
      const auto scalar = static_cast<Scalar>(s);
      if (!atomic_supported(op, scalar)) continue;
      ++pairs;
      std::size_t changed = 0;
      for (int round = 0; round < 300; ++round) {
        changed += compare_with_plain(op, scalar, random, 0);
      }
      CHECK((changed > 0) == (op != AtomicOp::kRead));
    }
  }
  CHECK(pairs == kOps * kScalars - 4 * 2);
}

TEST_CASE("bit operations on floats, and numbers that name nothing, are not offered") {
  CHECK_FALSE(atomic_supported(AtomicOp::kBitXor, Scalar::kF32));
  CHECK_FALSE(atomic_supported(AtomicOp::kMaskedSwap, Scalar::kF64));
  CHECK_FALSE(atomic_supported(static_cast<AtomicOp>(kOps), Scalar::kU8));
  CHECK_FALSE(atomic_supported(AtomicOp::kSum, static_cast<Scalar>(kScalars)));
  CHECK_FALSE(atomic_supported(static_cast<AtomicOp>(255), static_cast<Scalar>(255)));
  CHECK(scalar_bytes(static_cast<Scalar>(255)) == 0);
}

TEST_CASE("what cannot be done touches nothing") {
  alignas(8) std::uint64_t target[2] = {1, 2};
  const std::uint64_t operand = 7;
  CHECK_FALSE(
      execute_atomic(AtomicOp::kBitOr, Scalar::kF64, 1, target, &operand, nullptr, nullptr));
  CHECK_FALSE(execute_atomic(AtomicOp::kSum, Scalar::kU64, 1, target, nullptr, nullptr, nullptr));
  CHECK_FALSE(
      execute_atomic(AtomicOp::kCompareSwap, Scalar::kU64, 1, target, &operand, nullptr, nullptr));
  CHECK_FALSE(execute_atomic(AtomicOp::kSum, Scalar::kU64, 1, nullptr, &operand, nullptr, nullptr));
  auto* const crooked = reinterpret_cast<std::byte*>(target) + 4;
  CHECK_FALSE(execute_atomic(AtomicOp::kSum, Scalar::kU64, 1, crooked, &operand, nullptr, nullptr));
  CHECK(target[0] == 1);
  CHECK(target[1] == 2);
  CHECK(execute_atomic(AtomicOp::kSum, Scalar::kU32, 1, crooked, &operand, nullptr, nullptr));
}

TEST_CASE("a read needs no operand and no one needs a place to fetch to") {
  std::int32_t target = 11, fetched = 0;
  CHECK(execute_atomic(AtomicOp::kRead, Scalar::kI32, 1, &target, nullptr, nullptr, &fetched));
  CHECK(fetched == 11);
  const std::int32_t operand = -1;
  CHECK(execute_atomic(AtomicOp::kMin, Scalar::kI32, 1, &target, &operand, nullptr, nullptr));
  CHECK(target == -1);
  CHECK(execute_atomic(AtomicOp::kSum, Scalar::kI32, 0, &target, &operand, nullptr, nullptr));
  CHECK(target == -1);
}

TEST_CASE("zeros of either sign are equal and differ in bits, as for plain floats") {
  double target = -0.0;
  const double compare = 0.0, operand = 5.0;
  CHECK(execute_atomic(AtomicOp::kCompareSwap, Scalar::kF64, 1, &target, &operand, &compare,
                       nullptr));
  CHECK(target == 5.0);
}

TEST_CASE("sums of four threads conserve the total, for every scalar") {
  for (int s = 0; s < kScalars; ++s) {
    const auto scalar = static_cast<Scalar>(s);
    alignas(8) std::byte target[16] = {};
    std::int8_t i8 = 1;
    std::int16_t i16 = 1;
    std::int32_t i32 = 1;
    std::int64_t i64 = 1;
    float f32 = 1;
    double f64 = 1;
    const void* const ones[] = {&i8, &i8, &i16, &i16, &i32, &i32, &i64, &i64, &f32, &f64};
    in_four_threads(
        [&](int) { execute_atomic(AtomicOp::kSum, scalar, 1, target, ones[s], nullptr, nullptr); });
    std::uint64_t total = 0;
    if (scalar == Scalar::kF32) {
      std::memcpy(&f32, target, sizeof f32);
      total = static_cast<std::uint64_t>(f32);
    } else if (scalar == Scalar::kF64) {
      std::memcpy(&f64, target, sizeof f64);
      total = static_cast<std::uint64_t>(f64);
    } else {
      std::memcpy(&total, target, scalar_bytes(scalar));
    }
    const std::size_t bits = scalar_bytes(scalar) * 8;
    CHECK(total == (bits < 32 ? 80'000u & ((1u << bits) - 1) : 80'000u));
    for (std::size_t i = scalar_bytes(scalar); i < sizeof target; ++i)
      CHECK(target[i] == std::byte{0});
  }
}

TEST_CASE("tokens swapped among cells by four threads are never lost or doubled") {
  alignas(8) std::uint32_t cells[4] = {1, 2, 3, 4};
  std::uint32_t in_hand[4] = {11, 12, 13, 14};
  in_four_threads([&](int thread) {
    const auto mine = static_cast<std::size_t>(thread);
    std::uint32_t fetched = 0;
    execute_atomic(AtomicOp::kWrite, Scalar::kU32, 1, &cells[in_hand[mine] % 4], &in_hand[mine],
                   nullptr, &fetched);
    in_hand[mine] = fetched;
  });
  std::vector<std::uint32_t> all(cells, cells + 4);
  all.insert(all.end(), in_hand, in_hand + 4);
  std::sort(all.begin(), all.end());
  CHECK(all == std::vector<std::uint32_t>{1, 2, 3, 4, 11, 12, 13, 14});
}

TEST_CASE("compare-swap loops of four threads count every success once") {
  alignas(8) std::uint64_t counter = 0;
  in_four_threads([&](int) {
    std::uint64_t seen = 0;
    execute_atomic(AtomicOp::kRead, Scalar::kU64, 1, &counter, nullptr, nullptr, &seen);
    for (;;) {
      const std::uint64_t next = seen + 1;
      std::uint64_t fetched = 0;
      execute_atomic(AtomicOp::kCompareSwap, Scalar::kU64, 1, &counter, &next, &seen, &fetched);
      if (fetched == seen) return;
      seen = fetched;
    }
  });
  CHECK(counter == 80'000);
}
