// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/lane/reorder_test.cc -- in whatever order and however often frames arrive, each
// is delivered once, in order.
#include "core/lane/reorder.h"

#include <doctest/doctest.h>

#include <vector>

#include "base/random.h"

using namespace livebtl;
using namespace livebtl::core;

namespace {

Blob text_of(std::uint64_t seq) {
  ByteWriter writer;
  writer.put(seq * 31);
  return writer.take();
}

struct Receiver {
  Receiver(std::size_t bytes_max, std::uint64_t first) : reorder(bytes_max, first) {}

  Reorder::Verdict take(std::uint64_t seq) {
    const auto verdict = reorder.arrived(seq, bytes_of(seq), text_of(seq));
    if (verdict == Reorder::Verdict::kNext) {
      delivered.push_back(seq);
      while (auto early = reorder.take_next()) note(*early);
    }
    return verdict;
  }
  void note(const Reorder::Early& early) {
    std::uint64_t seq = 0;
    std::memcpy(&seq, early.header.data(), sizeof seq);
    intact = intact && early.payload == text_of(seq);
    delivered.push_back(seq);
  }
  bool is_run_from(std::uint64_t first) const {
    for (std::size_t i = 0; i < delivered.size(); ++i) {
      if (delivered[i] != first + i) return false;
    }
    return true;
  }

  Reorder reorder;
  std::vector<std::uint64_t> delivered;
  bool intact = true;
};

/// 500 frames in a bounded shuffle, many of them twice.
void deliver_shuffled(std::uint64_t seed, std::uint64_t first) {
  Random random(seed);
  Receiver receiver(1 << 20, first);
  std::vector<std::uint64_t> arrivals;
  for (std::uint64_t i = 0; i < 500; ++i) {
    arrivals.push_back(first + i);
    if (random.chance(0.3)) arrivals.push_back(first + random.below(i + 1));
  }
  for (std::size_t i = 0; i + 1 < arrivals.size(); ++i) {
    const std::size_t other = i + random.below(std::min<std::size_t>(20, arrivals.size() - i));
    std::swap(arrivals[i], arrivals[other]);
  }
  std::size_t duplicates = 0, early = 0;
  for (const std::uint64_t seq : arrivals) {
    const auto verdict = receiver.take(seq);
    duplicates += verdict == Reorder::Verdict::kDuplicate ? 1 : 0;
    early += verdict == Reorder::Verdict::kEarly ? 1 : 0;
    CHECK(verdict != Reorder::Verdict::kOverflow);
    CHECK(receiver.reorder.expected() == first + receiver.delivered.size());
  }
  CHECK(receiver.delivered.size() == 500);
  CHECK(receiver.is_run_from(first));
  CHECK(receiver.intact);
  CHECK(duplicates == arrivals.size() - 500);
  CHECK(early > 0);
  CHECK(receiver.reorder.early_bytes() == 0);
}

}  // namespace

TEST_CASE("shuffled and repeated frames come out once and in order") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) deliver_shuffled(seed, 1);
}

TEST_CASE("sequence numbers pass 2^32 and 2^63") {
  deliver_shuffled(3, (std::uint64_t{1} << 32) - 3);
  deliver_shuffled(4, (std::uint64_t{1} << 63) - 3);
}

TEST_CASE("more early bytes than the bound are an overflow, and change nothing") {
  Reorder reorder(200);
  const Blob header(24), payload(60);  // counted as 100
  CHECK(reorder.arrived(3, header, payload) == Reorder::Verdict::kEarly);
  CHECK(reorder.arrived(4, header, payload) == Reorder::Verdict::kEarly);
  CHECK(reorder.arrived(5, header, {}) == Reorder::Verdict::kOverflow);
  CHECK(reorder.early_bytes() == 200);
  CHECK(reorder.arrived(3, header, payload) == Reorder::Verdict::kDuplicate);
  CHECK(reorder.arrived(1, header, payload) == Reorder::Verdict::kNext);
  CHECK_FALSE(reorder.take_next());
  CHECK(reorder.arrived(2, header, payload) == Reorder::Verdict::kNext);
  CHECK(reorder.take_next());
  CHECK(reorder.arrived(5, header, {}) == Reorder::Verdict::kEarly);
  CHECK(reorder.take_next());
  CHECK(reorder.take_next());
  CHECK_FALSE(reorder.take_next());
  CHECK(reorder.expected() == 6);
  CHECK(reorder.early_bytes() == 0);
}

TEST_CASE("a frame that waits here and comes again as the next is delivered once") {
  Reorder reorder(1000);
  const Blob header(24);
  CHECK(reorder.arrived(2, header, {}) == Reorder::Verdict::kEarly);
  CHECK(reorder.arrived(1, header, {}) == Reorder::Verdict::kNext);
  CHECK(reorder.arrived(2, header, {}) == Reorder::Verdict::kNext);
  CHECK_FALSE(reorder.take_next());
  CHECK(reorder.early_bytes() == 0);
}

TEST_CASE("number 0 and all that was delivered are duplicates") {
  Reorder reorder(1000, 5);
  for (std::uint64_t seq = 0; seq < 5; ++seq) {
    CHECK(reorder.arrived(seq, {}, {}) == Reorder::Verdict::kDuplicate);
  }
  CHECK(reorder.expected() == 5);
}
