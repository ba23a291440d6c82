// SPDX-License-Identifier: BSD-3-Clause
// The words of a fast box: a reader understands what the writer said, and takes nothing else for
// it.
#include "core/path/fast_box.h"

#include <doctest/doctest.h>

#include "base/random.h"

using namespace livebtl;
using namespace livebtl::core;

TEST_CASE("a word says what was put into it") {
  for (const std::uint64_t seq :
       {std::uint64_t{1}, kBoxSeqMask, kBoxSeqMask + 1, ~std::uint64_t{0}}) {
    const BoxWord word{
        box_word(seq, kBoxInlineBytes, kBoxFlags, kBoxPortsEnd - 1, kBoxPortsEnd - 2)};
    CHECK(((word.word ^ box_identity(seq)) & kBoxIdentity) == 0);
    CHECK(word.bytes() == kBoxInlineBytes);
    CHECK(word.flags() == kBoxFlags);
    CHECK(word.source_port() == kBoxPortsEnd - 1);
    CHECK(word.target_port() == kBoxPortsEnd - 2);
    CHECK(word.whole());
  }
}

TEST_CASE("more bytes than a slot has, and flags that no such message has, are malformed") {
  for (std::size_t bytes = kBoxInlineBytes + 1; bytes <= kBoxHasBody; ++bytes) {
    const BoxWord word{box_word(1, bytes, 0, 0, 0)};
    CHECK_FALSE(word.whole());
    CHECK(word.has_body() == (bytes == kBoxHasBody));
  }
  for (const std::size_t bytes : {std::size_t{0}, kBoxHasBody}) {
    const BoxWord word{box_word(1, bytes, kBoxFlags + 1, 0, 0)};
    CHECK_FALSE(word.whole());
    CHECK_FALSE(word.has_body());
  }
}

TEST_CASE(
    "a reader finds just the message that it waits for, and nothing in a box that was cleared") {
  std::vector<BoxSlot> slots(kBoxSlots);
  std::uint64_t taken = 0;
  for (const std::uint64_t seq :
       {std::uint64_t{5}, std::uint64_t{1} << 24, (std::uint64_t{1} << 24) + 127}) {
    slots[seq % kBoxSlots].word = box_word(seq, 0, 0, 0, 0);
    BoxReader reader;
    reader.begin({slots.data(), nullptr, &taken, nullptr}, seq);
    CHECK(taken == seq);
    CHECK_FALSE(reader.has(seq));  // it predates the grant of the box
    slots[seq % kBoxSlots].word = box_word(seq, 0, 0, 0, 0);
    CHECK(reader.has(seq));
    CHECK_FALSE(reader.has(seq + kBoxSlots));
    CHECK_FALSE(reader.has(seq - kBoxSlots));
  }
}

TEST_CASE("a lease that ends counts what went under it, once") {
  BoxWriter writer;
  Lease lease;
  lease.end();
  CHECK(writer.frames == 0);
  lease.writer = &writer;
  lease.left = 7;
  lease.given = 10;
  lease.end();
  lease.end();
  CHECK(writer.frames == 3);
  CHECK(lease.left == 0);
}

TEST_CASE("cleaning leaves what is to come, and nothing else") {
  std::vector<BoxSlot> slots(kBoxSlots);
  std::uint64_t taken = 0;
  for (const std::uint64_t expected : {std::uint64_t{1} << 20, (std::uint64_t{1} << 24) - 3}) {
    BoxReader reader;
    reader.begin({slots.data(), nullptr, &taken, nullptr}, 1);
    CHECK(reader.unclean(expected));
    const auto put = [&](std::uint64_t seq) {
      slots[seq % kBoxSlots].word = box_word(seq, 1, 0, 2, 3);
    };
    for (std::uint64_t i = 0; i < kBoxSlots; ++i) put(expected - 5 * kBoxSlots + i);
    put(expected - 1);
    put(expected);
    put(expected + 7);
    reader.clean(expected);
    CHECK_FALSE(reader.unclean(expected));
    CHECK(reader.has(expected));
    CHECK(reader.has(expected + 7));
    const auto left =
        std::ranges::count_if(slots, [](const BoxSlot& slot) { return slot.word != 0; });
    CHECK(left == 2);
  }
}
