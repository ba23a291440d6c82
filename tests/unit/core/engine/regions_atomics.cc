// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/engine/regions_atomics.cc -- what atomics of the BML promise, on any transport.
#include "core/lane/atomics.h"
#include "tests/unit/core/engine/regions_conformance.h"

namespace livebtl::test {

void atomics_are_refused(const OnTransport& on) {
  Rig rig(on.ranks, on.kinds);
  Origin origin(rig);
  Guarded memory(rig, 4096), read_only(rig, 4096, Access::kRead),
      write_only(rig, 4096, Access::kWrite), nobodys(rig, 4096, Access::kNone);
  meet(rig, on, memory.key);
  std::uint64_t fetched = 77;
  for (const Guarded* each : {&read_only, &write_only, &nobodys})
    CHECK(origin.add({each->key, 0}, 1, fetched) == Errc::kBadKey);
  CHECK(origin.add({memory.key, memory.size() - 7}, 1, fetched) == Errc::kBadKey);
  CHECK(origin.add({memory.key, ~std::uint64_t{0} - 7}, 1, fetched) == Errc::kBadKey);
  CHECK(origin.add({memory.key, 4}, 1, fetched) == Errc::kInvalid);  // across two words
  CHECK(fetched == 77);
  const std::vector<std::byte> nothing(4096);
  CHECK(std::memcmp(memory.data(), nothing.data(), nothing.size()) == 0);
  const std::uint64_t gone = memory.key;
  memory.take_back();
  CHECK(origin.add({gone, 0}, 1, fetched) == Errc::kBadKey);
}

namespace {

/// Eight scalars at once, with and without fetching the old values, against the same on local
/// memory.
void atomic_is_as_at_home(Origin& origin, const Guarded& memory, AtomicOp op, Scalar scalar,
                          bool fetches) {
  CAPTURE(static_cast<int>(op));
  CAPTURE(static_cast<int>(scalar));
  constexpr std::size_t kCount = 8;
  const std::size_t bytes = kCount * core::scalar_bytes(scalar);
  const bool is_real = scalar == Scalar::kF32 || scalar == Scalar::kF64;
  // Reals of any bits may be NaNs, which compare to nothing.
  const auto operand = is_real ? std::vector<std::byte>(bytes) : pattern(bytes, 21);
  auto compare = is_real ? operand : pattern(bytes, 22);
  const auto before = is_real ? operand : pattern(bytes, 23);
  std::copy_n(before.begin(), bytes / 2, compare.begin());  // half of them are as expected
  std::memcpy(memory.data(), before.data(), bytes);
  alignas(16) std::byte home[kCount * sizeof(std::uint64_t)];
  std::memcpy(home, before.data(), bytes);
  std::vector<std::byte> fetched(bytes), at_home(bytes);
  REQUIRE(core::execute_atomic(op, scalar, kCount, home, operand.data(), compare.data(),
                               at_home.data()));
  AtomicRequest request{.to = origin.to, .remote = {memory.key, 0}, .op = op, .scalar = scalar};
  request.count = kCount;
  request.operand = op == AtomicOp::kRead ? nullptr : operand.data();
  request.compare = core::needs_compare(op) ? compare.data() : nullptr;
  request.fetched = fetches ? fetched.data() : nullptr;
  CHECK(origin.finish([&](Operation& operation) {
    return origin.rig.ports[0]->atomic(request, operation);
  }) == Errc::kOk);
  CHECK(std::memcmp(memory.data(), home, bytes) == 0);
  if (fetches) CHECK(fetched == at_home);
}

}  // namespace

void atomics_are_as_at_home(const OnTransport& on) {
  Rig rig(on.ranks, on.kinds);
  Origin origin(rig);
  const Guarded memory(rig, 4096);
  meet(rig, on, memory.key);
  for (int op = 0; op <= static_cast<int>(AtomicOp::kMaskedSwap); ++op) {
    for (int scalar = 0; scalar <= static_cast<int>(Scalar::kF64); ++scalar) {
      for (const bool fetches : {true, false}) {
        if (core::atomic_supported(static_cast<AtomicOp>(op), static_cast<Scalar>(scalar)))
          atomic_is_as_at_home(origin, memory, static_cast<AtomicOp>(op),
                               static_cast<Scalar>(scalar), fetches);
      }
    }
  }
}

/// Invalid operations are not begun.
void nonsense_is_refused_at_once(const OnTransport& on) {
  Rig rig(on.ranks, on.kinds);
  const Guarded memory(rig, 4096);
  meet(rig, on, memory.key);
  const Origin origin(rig);
  const std::uint64_t operand = 1;
  AtomicRequest good{.to = origin.to, .remote = {memory.key, 0}};
  good.operand = &operand;
  AtomicRequest wraps = good, too_many = good, nothing = good, no_compare = good;
  wraps.count = (std::size_t{1} << 61) + 1;
  too_many.count = kAtomicBytesMax / sizeof operand + 1;
  nothing.operand = nullptr;
  no_compare.op = AtomicOp::kCompareSwap;
  for (const AtomicRequest& each : {wraps, too_many, nothing, no_compare}) {
    Watched operation;
    CHECK(rig.ports[0]->atomic(each, operation) == Accept::kInvalid);
    CHECK(operation.done_count == 0);
  }
}

}  // namespace livebtl::test
