// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/sm/lending_test.cc -- transports/sm/sm_lending.h alone: who owns the bytes when, words
// that make no sense.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "tests/unit/transports/sm/lending_kit.h"

namespace livebtl::sm {

TEST_CASE("what is lent is fetched, in any order, and given back in that of lending") {
  Pair pair;
  REQUIRE(pair.lender.allowed());
  for (std::uint64_t round = 0; round < 3; ++round) {
    std::vector<Blob> payloads;
    std::vector<LoanRecord> records;
    for (std::uint64_t each = 0; each < kLoansMax; ++each) {
      REQUIRE(!pair.lender.full());
      payloads.push_back(filled(static_cast<int>(10 * round + each)));
      records.push_back(pair.lender.lend(payloads.back(), 100 * round + each));
    }
    CHECK(pair.lender.full());
    CHECK(!pair.lender.fetched());
    for (const std::size_t each : {2U, 0U, 1U, 3U}) {
      CHECK(pair.fetch(records[each]) == Outcome::kDone);
      CHECK(pair.place == payloads[each]);
      CHECK(pair.lender.fetched() == (each != 2));
    }
    for (std::uint64_t each = 0; each < kLoansMax; ++each) {
      REQUIRE(pair.lender.fetched());
      CHECK(pair.lender.take_back() == 100 * round + each);
    }
    CHECK(pair.lender.outstanding() == 0);
  }
  CHECK(!pair.lender.corrupt());
}

TEST_CASE("an owner that wants its memory back has it at once, and the bytes arrive all the same") {
  Pair pair;
  Blob first = filled(1), second = filled(2);
  const LoanRecord a = pair.lender.lend(first, 1);
  const LoanRecord b = pair.lender.lend(second, 2);
  CHECK(pair.fetch(a) == Outcome::kDone);
  pair.lender.move_out();
  pair.lender.move_out();
  first = second = filled(9);
  CHECK(pair.lender.take_back() == 1);
  CHECK(pair.fetch(b) == Outcome::kDone);
  CHECK(pair.place == filled(2));
  REQUIRE(pair.lender.fetched());
  CHECK(pair.lender.take_back() == 2);
}

namespace {

/// The owner in a thread of its own, which wants its memory back a while after it was lent: sooner
/// if it came too late the last time, later if it came too soon, so that most rounds are close.
/// Which comes first is the scheduler's affair; what must hold is the same either way.
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
      const bool late = pair_.lender.fetched();
      pause = late ? pause / 2 : std::min(2 * pause + 1, 1 << 20);
      pair_.lender.move_out();
      std::fill(payload.begin(), payload.end(), std::byte{0xEE});
      ended_ = round;
    }
  }

  Pair& pair_;
  std::atomic<int> begun_ = 0, ended_ = 0;
  std::atomic<bool> over_ = false;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace

TEST_CASE("... even while they are being copied") {
  Pair pair;
  Owner owner(pair);
  for (int round = 1; round <= 2000; ++round) {
    owner.payload = filled(round);
    const LoanRecord record = pair.lender.lend(owner.payload, 0);
    owner.begin(round);
    REQUIRE(pair.fetch(record) == Outcome::kDone);
    owner.await(round);
    REQUIRE(pair.place == filled(round));
    REQUIRE(pair.lender.fetched());
    pair.lender.take_back();
  }
}

TEST_CASE("what is withdrawn is not fetched, moved or not") {
  Pair pair;
  const Blob payload = filled(1);
  const LoanRecord a = pair.lender.lend(payload, 1);
  pair.lender.move_out();
  const LoanRecord b = pair.lender.lend(payload, 2);
  pair.lender.withdraw();
  CHECK(pair.fetch(a) == Outcome::kGone);
  CHECK(pair.fetch(b) == Outcome::kGone);
  CHECK(pair.lender.outstanding() == 0);
  CHECK(!pair.lender.allowed());
}

TEST_CASE("records and words that make no sense") {
  Pair pair;
  const Blob payload = filled(1);
  const LoanRecord good = pair.lender.lend(payload, 1);
  LoanRecord bad = good;
  bad.slot = kLoansMax;
  CHECK(pair.fetch(bad) == Outcome::kCorrupt);
  bad = good;
  bad.number = 7;
  CHECK(pair.fetch(bad) == Outcome::kCorrupt);
  bad = good;
  bad.slot = 1;  // nothing was ever lent there
  CHECK(pair.fetch(bad) == Outcome::kGone);
  pair.words.loans[0].state ^= 1u << 20;
  CHECK(pair.fetch(good) == Outcome::kCorrupt);
  CHECK(!pair.lender.fetched());
  CHECK(pair.lender.corrupt());
}

TEST_CASE(
    "nothing is lent before the peer has shown that it can read, and reads the right process") {
  LendingWords words;
  Blob spare(kLoanBytesMax);
  Lender lender(words, spare.data());
  CHECK(!lender.allowed());
  Fetcher nobody(words, spare.data(), PeerMemory());
  nobody.probe();
  CHECK(!lender.allowed());
  Fetcher fetcher(words, spare.data(), PeerMemory(::getpid()));
  words.probe ^= 1;
  fetcher.probe();
  CHECK(!lender.allowed());
  words.probe ^= 1;
  fetcher.probe();
  CHECK(lender.allowed());
}

}  // namespace livebtl::sm
