// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/ofi_onesided.cc -- see ofi_onesided.h.
#include "tests/conformance/ofi_onesided.h"

#include <limits>
#include <set>

#include "tests/conformance/ofi_onesided_rig.h"

namespace livebtl::conformance {
namespace {

void any_range_is_put_and_got(Pair& pair) {
  constexpr std::size_t kBytes = 1u << 20;
  Memory memory(pair, kBytes);
  Blob model = memory.there;
  const std::size_t most = std::min<std::uint64_t>(kBytes - 100, pair.a().bytes_max());
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{8}, std::size_t{4095}, most}) {
    for (const std::size_t offset : {std::size_t{0}, std::size_t{3}, kBytes - bytes}) {
      std::ranges::copy(pattern(bytes + offset, bytes), memory.here.begin() + 7);
      const std::uint64_t put =
          pair.put({memory.local.number, 7, bytes}, at(memory.remote, offset));
      REQUIRE(pair.end_of(put).code == Errc::kOk);
      std::copy_n(memory.here.begin() + 7, bytes,
                  model.begin() + static_cast<std::ptrdiff_t>(offset));
      REQUIRE(memory.there == model);
      const std::size_t back = kBytes - bytes;
      const std::uint64_t got =
          pair.get(at(memory.remote, offset), {memory.local.number, back, bytes});
      REQUIRE(pair.end_of(got).code == Errc::kOk);
      REQUIRE(std::equal(memory.here.begin() + static_cast<std::ptrdiff_t>(back), memory.here.end(),
                         model.begin() + static_cast<std::ptrdiff_t>(offset)));
    }
  }
  CHECK(memory.there == model);
}

void adds_are_conserved(Pair& pair, std::uint32_t at_once) {
  constexpr std::uint64_t kAdds = 2000;
  alignas(8) std::array<std::uint64_t, 4> words{};
  const auto exposed = pair.b().expose({reinterpret_cast<std::byte*>(words.data()), sizeof words},
                                       Access::kReadWrite);
  REQUIRE(exposed.has_value());
  std::vector<std::uint64_t> cookies;
  for (std::uint64_t i = 0; i < kAdds; ++i) {
    REQUIRE(pair.rig().until([&] { return pair.a().outstanding(pair.to_b()) < at_once; }));
    cookies.push_back(pair.atomic(at(*exposed, 16), {AtomicOp::kSum, Scalar::kU64, 1}));
  }
  pair.flush();
  CHECK(words == std::array<std::uint64_t, 4>{0, 0, kAdds, 0});
  std::set<std::uint64_t> found;
  for (const std::uint64_t cookie : cookies) found.insert(pair.end_of(cookie).fetched);
  CHECK(found.size() == kAdds);
  CHECK(*found.rbegin() == kAdds - 1);
}

struct Case {
  AtomicOp op;
  std::uint64_t before, operand, compare, after;
};

constexpr std::array kCases{
    Case{AtomicOp::kSum, 0x1'0000'0005, 3, 0, 0x1'0000'0008},
    Case{AtomicOp::kMin, 9, 4, 0, 4},
    Case{AtomicOp::kMax, 9, 4, 0, 9},
    Case{AtomicOp::kBitAnd, 0b1100, 0b1010, 0, 0b1000},
    Case{AtomicOp::kBitOr, 0b1100, 0b1010, 0, 0b1110},
    Case{AtomicOp::kBitXor, 0b1100, 0b1010, 0, 0b0110},
    Case{AtomicOp::kLogicalAnd, 5, 0, 0, 0},
    Case{AtomicOp::kLogicalOr, 5, 0, 0, 1},
    Case{AtomicOp::kLogicalXor, 5, 7, 0, 0},
    Case{AtomicOp::kWrite, 5, 7, 0, 7},
    Case{AtomicOp::kRead, 5, 0, 0, 5},
    Case{AtomicOp::kCompareSwap, 5, 7, 5, 7},
    Case{AtomicOp::kCompareSwap, 5, 7, 6, 5},
};

/// Each operation on a word between two others, which stay unchanged.
template <class Word>
std::size_t check_atomics(Pair& pair, Scalar scalar) {
  std::size_t done = 0;
  alignas(8) std::array<Word, 3> words{};
  const auto exposed = pair.b().expose({reinterpret_cast<std::byte*>(words.data()), sizeof words},
                                       Access::kReadWrite);
  REQUIRE(exposed.has_value());
  constexpr Word kGuard = std::numeric_limits<Word>::max();
  for (const Case& each : kCases) {
    const Atomic what{each.op, scalar, each.operand, each.compare};
    if (!pair.a().has(what)) continue;
    words = {kGuard, static_cast<Word>(each.before), kGuard};
    const auto end = pair.end_of(pair.atomic(at(*exposed, sizeof(Word)), what));
    REQUIRE(end.code == Errc::kOk);
    CAPTURE(static_cast<int>(each.op));
    CHECK(words == std::array<Word, 3>{kGuard, static_cast<Word>(each.after), kGuard});
    CHECK(static_cast<Word>(end.fetched) == static_cast<Word>(each.before));
    ++done;
  }
  pair.b().conceal(exposed->number);
  return done;
}

void atomics_do_what_they_say(Pair& pair) {
  CHECK(check_atomics<std::uint64_t>(pair, Scalar::kU64) == kCases.size());
  CHECK(check_atomics<std::int64_t>(pair, Scalar::kI64) == kCases.size());
  CHECK(check_atomics<std::uint32_t>(pair, Scalar::kU32) == kCases.size());
  CHECK(check_atomics<std::int32_t>(pair, Scalar::kI32) == kCases.size());
}

// Not in the subcase itself: doctest skips the other subcases if one returns early.
void atomics(Pair& pair, const OneSidedProvider& provider) {
  CHECK(pair.a().has({}) == provider.atomics);
  if (!provider.atomics) return;
  atomics_do_what_they_say(pair);
  adds_are_conserved(pair, provider.fetches_at_once);
}

/// Asks for more than may be outstanding, or than the completion queue holds, which nobody reads
/// meanwhile: the answer is busy, and what was begun is done in the end, once.
void busy_is_an_answer(Pair& pair) {
  Memory memory(pair, 4096);
  std::size_t posted = 0;
  for (;; ++posted) {
    REQUIRE(posted <= OneSided::kOperationsMax);
    const auto post = pair.a().put(pair.to_b(), {memory.local.number, 0, 8}, at(memory.remote, 0),
                                   1'000'000 + posted);
    REQUIRE(post.has_value());
    if (*post == Post::kRetry) break;
  }
  CHECK(posted != 0);
  pair.flush();
  CHECK(pair.ended() == posted);
  CHECK(pair.end_of(pair.put({memory.local.number, 0, 8}, at(memory.remote, 0))).code == Errc::kOk);
}

void what_is_not_ours_is_refused_at_once(Pair& pair) {
  Memory memory(pair, 64);
  constexpr std::uint64_t kFar = std::numeric_limits<std::uint64_t>::max();
  for (const Local& bad : {Local{memory.local.number + 1, 0, 8}, Local{memory.local.number, 60, 8},
                           Local{memory.local.number, kFar, 8}, Local{memory.local.number, 8, kFar},
                           Local{memory.local.number, 0, 0}}) {
    const auto put = pair.a().put(pair.to_b(), bad, at(memory.remote, 0), 1);
    REQUIRE(!put.has_value());
    CHECK(put.error().code == Errc::kInvalid);
  }
  CHECK(pair.a().expose({}, Access::kRead).error().code == Errc::kInvalid);
  CHECK(memory.there == pattern(2, 64));
}

}  // namespace

void run_onesided(const OneSidedProvider& provider) {
  SUBCASE("any range is put and got") {
    Pair pair(provider.name);
    any_range_is_put_and_got(pair);
  }
  SUBCASE("atomics do what they say, and fetch-and-adds in flight are conserved") {
    Pair pair(provider.name);
    atomics(pair, provider);
  }
  SUBCASE("busy is an answer") {
    Pair pair(provider.name);
    busy_is_an_answer(pair);
  }
  SUBCASE("a completion queue that is too short loses nothing") {
    Pair pair(provider.name, {.queue_entries = 8});
    busy_is_an_answer(pair);
    if (provider.atomics) adds_are_conserved(pair, provider.fetches_at_once);
  }
  SUBCASE("what is not ours is refused at once") {
    Pair pair(provider.name);
    what_is_not_ours_is_refused_at_once(pair);
  }
  SUBCASE("memory is registered as the provider asks") { memory_modes(provider); }
  SUBCASE("the owner refuses wrong keys, ranges, and what is exposed no more") {
    if (provider.refuses) refusals(provider.name);
  }
  SUBCASE("what was not allowed is refused, or cannot be forbidden") {
    provider.refuses ? rights(provider) : no_rights(provider.name);
  }
}

}  // namespace livebtl::conformance
