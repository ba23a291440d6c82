// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/sm/zero_copy_test.cc -- transports/sm/sm_zero_copy.h alone: who owns the
// bytes when, and nonsensical words.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "tests/unit/transports/sm/zero_copy_kit.h"

namespace livebtl::sm {

TEST_CASE("what is exposed is read, in any order, and given back in that of exposing") {
  Pair pair;
  REQUIRE(pair.exporter.allowed());
  for (std::uint64_t round = 0; round < 3; ++round) {
    std::vector<Blob> payloads;
    std::vector<ExposureRecord> records;
    for (std::uint64_t each = 0; each < kExposuresMax; ++each) {
      REQUIRE(!pair.exporter.full());
      payloads.push_back(filled(static_cast<int>(10 * round + each)));
      records.push_back(pair.expose(payloads.back(), 100 * round + each));
    }
    CHECK(pair.exporter.full());
    CHECK(!pair.exporter.was_read());
    for (const std::size_t each : {2U, 0U, 1U, 3U}) {
      CHECK(pair.read(records[each]) == Outcome::kDone);
      CHECK(pair.place == payloads[each]);
      CHECK(pair.exporter.was_read() == (each != 2));
    }
    for (std::uint64_t each = 0; each < kExposuresMax; ++each) {
      REQUIRE(pair.exporter.was_read());
      CHECK(pair.exporter.take_back() == 100 * round + each);
    }
    CHECK(pair.exporter.outstanding() == 0);
  }
  CHECK(!pair.exporter.corrupt());
}

TEST_CASE("an owner that wants its memory back has it at once, and the bytes arrive all the same") {
  Pair pair;
  Blob first = filled(1), second = filled(2);
  const ExposureRecord a = pair.expose(first, 1);
  const ExposureRecord b = pair.expose(second, 2);
  CHECK(pair.read(a) == Outcome::kDone);
  pair.exporter.move_out();
  pair.exporter.move_out();
  first = second = filled(9);
  CHECK(pair.exporter.take_back() == 1);
  CHECK(pair.read(b) == Outcome::kDone);
  CHECK(pair.place == filled(2));
  REQUIRE(pair.exporter.was_read());
  CHECK(pair.exporter.take_back() == 2);
}

namespace {

/// The owner in its own thread, which wants its memory back a while after exposing it: sooner if it
/// was too late last time, later if it was too soon, so that most rounds are close. The scheduler
/// decides who is first; what must hold is the same either way.
class Owner {
 public:
  explicit Owner(Pair& pair) : pair_(pair), thread_([this] { run(); }) {}
  ~Owner() {
    over_ = true;
    thread_.join();
  }
  void begin(int round) { begun_ = round; }
  void await(int round) const {
    while (ended_ != round) std::this_thread::yield();
  }
  Blob payload;

 private:
  void run() {
    int pause = 0;
    for (int round = 1;; ++round) {
      while (begun_ != round && !over_) std::this_thread::yield();
      if (over_) return;
      for (int i = pause; i > 0; --i) std::atomic_signal_fence(std::memory_order_seq_cst);
      const bool late = pair_.exporter.was_read();
      pause = late ? pause / 2 : std::min(2 * pause + 1, 1 << 20);
      pair_.exporter.move_out();
      std::fill(payload.begin(), payload.end(), std::byte{0xEE});
      ended_ = round;
    }
  }

  Pair& pair_;
  std::atomic<int> begun_ = 0, ended_ = 0;
  std::atomic<bool> over_ = false;
  std::thread thread_;  // last, as it uses the rest
};

}  // namespace

TEST_CASE("... even while they are being copied") {
  Pair pair;
  Owner owner(pair);
  for (int round = 1; round <= 2000; ++round) {
    owner.payload = filled(round);
    const ExposureRecord record = pair.expose(owner.payload, 0);
    owner.begin(round);
    REQUIRE(pair.read(record) == Outcome::kDone);
    owner.await(round);
    REQUIRE(pair.place == filled(round));
    REQUIRE(pair.exporter.was_read());
    pair.exporter.take_back();
  }
}

TEST_CASE("what is withdrawn is not read, moved or not") {
  Pair pair;
  const Blob payload = filled(1);
  const ExposureRecord a = pair.expose(payload, 1);
  pair.exporter.move_out();
  const ExposureRecord b = pair.expose(payload, 2);
  pair.exporter.withdraw();
  CHECK(pair.read(a) == Outcome::kGone);
  CHECK(pair.read(b) == Outcome::kGone);
  CHECK(pair.exporter.outstanding() == 0);
  CHECK(!pair.exporter.allowed());
}

TEST_CASE("records and words that make no sense") {
  Pair pair;
  const Blob payload = filled(1);
  const ExposureRecord good = pair.expose(payload, 1);
  ExposureRecord bad = good;
  bad.slot = kExposuresMax;
  CHECK(pair.read(bad) == Outcome::kCorrupt);
  bad = good;
  bad.number = 7;
  CHECK(pair.read(bad) == Outcome::kCorrupt);
  bad = good;
  bad.slot = 1;  // nothing was ever exposed in that slot
  CHECK(pair.read(bad) == Outcome::kGone);
  pair.words.exposures[0].state ^= 1u << 20;
  CHECK(pair.read(good) == Outcome::kCorrupt);
  CHECK(!pair.exporter.was_read());
  CHECK(pair.exporter.corrupt());
}

TEST_CASE(
    "nothing is exposed before the peer has shown that it can read, and reads the right process") {
  ZeroCopyWords words;
  Blob spare(kExposureBytesMax);
  const KnemDevice absent;
  Exporter exporter(words, spare.data(), absent);
  CHECK(!exporter.allowed());
  RemoteReader nobody(words, spare.data(), PeerMemory(), KnemPeer());
  nobody.probe();
  CHECK(!exporter.allowed());
  RemoteReader reader(words, spare.data(), PeerMemory(::getpid()), KnemPeer());
  words.probe ^= 1;
  reader.probe();
  CHECK(!exporter.allowed());
  words.probe ^= 1;
  reader.probe();
  CHECK(exporter.allowed());
}

}  // namespace livebtl::sm
