// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/sm/ring_test.cc -- transports/sm/sm_ring.h alone: contents, the end of the
// ring, hostile words, two threads.
#include "transports/sm/sm_ring.h"

#include <doctest/doctest.h>

#include <memory>
#include <thread>
#include <vector>

#include "base/random.h"

namespace livebtl::sm {
namespace {

using Look = RingReader::Look;

/// Plain memory as both sides see it.
struct Memory {
  explicit Memory(std::size_t bytes = kRingBytesMin)
      : size(bytes),
        lines(bytes / kLineBytes),
        writer(words, data(), size),
        reader(words, data(), size) {}
  std::byte* data() noexcept { return lines.data()->bytes; }
  void put_word(std::size_t offset, std::uint64_t word) { std::memcpy(data() + offset, &word, 8); }

  struct Line {
    alignas(kLineBytes) std::byte bytes[kLineBytes] = {};
  };
  std::size_t size;
  RingWords words;
  std::vector<Line> lines;
  RingWriter writer;
  RingReader reader;
};

Blob filled(std::uint64_t seed, std::size_t count) {
  Blob blob(count);
  for (std::size_t i = 0; i < count; ++i) blob[i] = static_cast<std::byte>(seed + i * 7);
  return blob;
}

bool take_expected(RingReader& reader, std::size_t payload_max, const Blob& header,
                   const Blob& payload) {
  RingReader::Record record;
  if (reader.look(payload_max, record) != Look::kFrame) return false;
  const bool same = Blob(record.header, record.header + record.header_bytes) == header &&
                    Blob(record.payload.begin(), record.payload.end()) == payload;
  reader.release();
  return same;
}

}  // namespace

TEST_CASE("records come out as they went in, over many laps") {
  Memory memory;
  Random random(1);
  const std::size_t payload_max = ring_payload_max(memory.size);
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const Blob header = filled(i, 1 + random.below(core::kHeaderBytesMax));
    const Blob payload = filled(i + 1, random.below(payload_max + 1));
    REQUIRE(memory.writer.push(header, payload));
    REQUIRE(memory.reader.waiting());
    REQUIRE(take_expected(memory.reader, payload_max, header, payload));
    REQUIRE(!memory.reader.waiting());
  }
}

TEST_CASE("a full ring takes nothing, and all it had comes out in order") {
  Memory memory;
  Random random(2);
  for (int lap = 0; lap < 20; ++lap) {
    std::vector<std::pair<Blob, Blob>> taken;
    while (true) {
      const Blob header = filled(random.next(), 24);
      const Blob payload = filled(random.next(), random.below(900));
      if (!memory.writer.push(header, payload)) break;
      taken.emplace_back(header, payload);
    }
    CHECK(taken.size() > 10);
    CHECK(!memory.writer.corrupt());
    for (const auto& [header, payload] : taken)
      REQUIRE(take_expected(memory.reader, 4096, header, payload));
    CHECK(!memory.reader.waiting());
  }
}

TEST_CASE("the largest payload fits wherever the ring's end lies") {
  Memory memory;
  const std::size_t payload_max = ring_payload_max(memory.size);
  const Blob small(8);
  const Blob large = filled(3, payload_max);
  for (std::size_t start = 0; start < memory.size / kLineBytes; ++start) {
    REQUIRE(memory.writer.push(small, {}));
    REQUIRE(take_expected(memory.reader, payload_max, small, {}));
    REQUIRE(memory.writer.push(small, large));
    REQUIRE(take_expected(memory.reader, payload_max, small, large));
  }
}

TEST_CASE("an empty ring has nothing, and one made of nothing takes nothing") {
  Memory memory;
  RingReader::Record record;
  CHECK(memory.reader.look(4096, record) == Look::kNothing);
  CHECK(!RingReader().waiting());
  CHECK(!RingWriter().push(Blob(8), Blob(8)));
}

TEST_CASE("hostile commit words are refused") {
  RingReader::Record record;
  const auto look_at = [&](std::uint64_t word, std::size_t payload_max = 4096) {
    Memory memory;
    memory.put_word(0, word);
    return memory.reader.look(payload_max, record);
  };
  CHECK(look_at(commit_word(RecordKind::kFrame, 64, 4096)) == Look::kFrame);
  CHECK(look_at(commit_word(RecordKind::kFrame, 1, 0)) == Look::kFrame);
  CHECK(look_at(commit_word(RecordKind::kFrame, 0, 8)) == Look::kCorrupt);
  CHECK(look_at(commit_word(RecordKind::kFrame, 65, 8)) == Look::kCorrupt);
  CHECK(look_at(commit_word(RecordKind::kFrame, 255, 8)) == Look::kCorrupt);
  CHECK(look_at(commit_word(RecordKind::kFrame, 8, 4097)) == Look::kCorrupt);
  CHECK(look_at(commit_word(RecordKind::kFrame, 8, 0xffff'ffff), ~std::size_t{0}) ==
        Look::kCorrupt);
  CHECK(look_at(commit_word(RecordKind::kExposure, 8, 8)) == Look::kExposure);
  CHECK(look_at(commit_word(RecordKind{4}, 8, 8)) == Look::kCorrupt);
  CHECK(look_at(commit_word(RecordKind{0}, 8, 8)) == Look::kCorrupt);
  CHECK(look_at(commit_word(RecordKind::kFrame, 8, 8) | std::uint64_t{1} << 48) == Look::kCorrupt);
  CHECK(look_at(~std::uint64_t{0}) == Look::kCorrupt);
  CHECK(look_at(commit_word(RecordKind::kSkip, 0, kRingBytesMin)) == Look::kCorrupt);
  CHECK(look_at(commit_word(RecordKind::kSkip, 0, 64)) == Look::kCorrupt);
  CHECK(look_at(commit_word(RecordKind::kSkip, 8, 0)) == Look::kCorrupt);
}

TEST_CASE("a record may not reach past the ring's end, nor a skip do other than to end there") {
  RingReader::Record record;
  const std::size_t near_end = kRingBytesMin - 128;
  const auto look_near_end = [&](std::uint64_t word) {
    Memory memory;
    while (true) {  // moves both sides there
      REQUIRE(memory.writer.push(Blob(8), Blob(8)));
      RingReader::Record passed;
      REQUIRE(memory.reader.look(4096, passed) == Look::kFrame);
      const auto next = static_cast<std::size_t>(passed.header - 8 - memory.data()) + kLineBytes;
      memory.reader.release();
      if (next == near_end) break;
    }
    memory.put_word(near_end, word);
    return memory.reader.look(1u << 20, record);
  };
  CHECK(look_near_end(commit_word(RecordKind::kFrame, 8, 112)) == Look::kFrame);
  CHECK(look_near_end(commit_word(RecordKind::kFrame, 8, 113)) == Look::kCorrupt);
  CHECK(look_near_end(commit_word(RecordKind::kSkip, 0, 128)) ==
        Look::kFrame);  // the first lap's, at the start
  CHECK(look_near_end(commit_word(RecordKind::kSkip, 0, 64)) == Look::kCorrupt);
  CHECK(look_near_end(commit_word(RecordKind::kSkip, 0, 192)) == Look::kCorrupt);
}

TEST_CASE("random contents never lead outside the ring") {
  Random random(4);
  for (int round = 0; round < 2000; ++round) {
    Memory memory;
    // Mostly words that are nearly right: mere rubbish would be refused at the first look.
    for (std::size_t offset = 0; offset < memory.size; offset += kLineBytes)
      memory.put_word(
          offset, random.chance(0.1)
                      ? random.next()
                      : commit_word(random.chance(0.05) ? RecordKind::kSkip : RecordKind::kFrame,
                                    random.below(66), random.below(300)));
    RingReader::Record record;
    for (int i = 0; i < 50 && memory.reader.look(4096, record) == Look::kFrame; ++i) {
      const std::byte* const end = memory.data() + memory.size;
      REQUIRE(record.header >= memory.data());
      REQUIRE(record.header + record.header_bytes <= end);
      REQUIRE(record.payload.data() >= memory.data());
      REQUIRE(record.payload.data() + record.payload.size() <= end);
      memory.reader.release();
    }
  }
}

TEST_CASE("a hostile head is noticed, and nothing is written for it") {
  for (const std::uint64_t head : {std::uint64_t{1} << 40, ~std::uint64_t{0}, std::uint64_t{1},
                                   std::uint64_t{kRingBytesMin}}) {
    Memory memory;
    while (memory.writer.push(Blob(8), Blob(100)))
      ;
    CHECK(!memory.writer.corrupt());
    memory.words.head = head;
    CHECK(!memory.writer.push(Blob(8), Blob(100)));
    CHECK(memory.writer.corrupt());
    memory.words.head = 0;
    CHECK(!memory.writer.push(Blob(8), Blob(100)));
  }
}

TEST_CASE("sleep is odd, waking is even, each said once") {
  Memory memory;
  CHECK(memory.writer.reader_sleeping() % 2 == 0);
  memory.reader.fall_asleep();
  const std::uint32_t asleep = memory.writer.reader_sleeping_ordered();
  CHECK(asleep % 2 == 1);
  memory.reader.fall_asleep();
  CHECK(memory.writer.reader_sleeping() == asleep);
  memory.reader.wake();
  memory.reader.wake();
  CHECK(memory.writer.reader_sleeping() % 2 == 0);
  memory.reader.fall_asleep();
  CHECK(memory.writer.reader_sleeping() != asleep);
}

TEST_CASE("two threads: all records, in order, unchanged") {
  Memory memory;
  constexpr std::uint64_t kCount = 100'000;
  std::thread writing([&] {
    Random random(5);
    Blob header(64);
    Blob payload(2048);
    for (std::uint64_t i = 0; i < kCount; ++i) {
      const std::size_t payload_bytes = random.below(random.chance(0.05) ? 2048 : 64);
      std::memcpy(header.data(), &i, 8);
      std::fill(payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(payload_bytes),
                static_cast<std::byte>(i));
      while (
          !memory.writer.push(Bytes(header).first(8 + i % 56), Bytes(payload).first(payload_bytes)))
        std::this_thread::yield();
    }
  });
  Random random(5);
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < kCount;) {
    RingReader::Record record;
    const Look look = memory.reader.look(4096, record);
    if (look == Look::kNothing) {
      std::this_thread::yield();
      continue;
    }
    const std::size_t payload_bytes = random.below(random.chance(0.05) ? 2048 : 64);
    std::uint64_t number = 0;
    std::memcpy(&number, record.header, 8);
    wrong += look != Look::kFrame || number != i || record.header_bytes != 8 + i % 56 ||
             record.payload.size() != payload_bytes;
    for (const std::byte each : record.payload) wrong += each != static_cast<std::byte>(i);
    memory.reader.release();
    ++i;
  }
  writing.join();
  CHECK(wrong == 0);
}

}  // namespace livebtl::sm
