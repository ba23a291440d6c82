// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/sm/lending_test.cc -- transports/sm/sm_lending.h and sm_peer_memory.h alone: who owns
// the bytes when, words that make no sense, other processes' memory.
#include "transports/sm/sm_lending.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>
#include <vector>

namespace livebtl::sm {
namespace {

using Outcome = Fetcher::Outcome;

constexpr std::size_t kBytes = 100'000;

struct SocketPair {
  SocketPair() {
    int numbers[2] = {-1, -1};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, numbers) == 0);
    here = Fd(numbers[0]);
    there = Fd(numbers[1]);
  }
  Fd here, there;
};

/// Both sides in this process.
struct Pair {
  Pair() : fetcher(words, spare.data(), PeerMemory(::getpid(), sockets.here, Fd())) {
    fetcher.probe();
  }
  Outcome fetch(const LoanRecord& record) {
    place.assign(record.bytes, std::byte{0});
    return fetcher.fetch(record, place);
  }
  LendingWords words;
  Blob spare = Blob(kLoanBytesMax);
  SocketPair sockets;
  Lender lender{words, spare.data()};
  Fetcher fetcher;
  Blob place;
};

Blob filled(int value, std::size_t bytes = kBytes) {
  return Blob(bytes, static_cast<std::byte>(value));
}

}  // namespace

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
    for (const std::size_t each : {2, 0, 1, 3}) {
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

TEST_CASE("... even while they are being copied") {
  Pair pair;
  for (int round = 0; round < 300; ++round) {
    Blob payload = filled(round);
    const LoanRecord record = pair.lender.lend(payload, 0);
    std::thread owner([&] {
      pair.lender.move_out();
      std::fill(payload.begin(), payload.end(), std::byte{0xEE});
    });
    const Outcome outcome = pair.fetch(record);
    owner.join();
    REQUIRE(outcome == Outcome::kDone);
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

/// What is lent first cannot be read any more.
static LoanRecord lend_unreadable(Pair& pair, Bytes payload) {
  const LoanRecord record = pair.lender.lend(payload, 1);
  pair.words.loans[record.slot].address = 8;
  CHECK(pair.fetch(record) == Outcome::kAsked);
  CHECK(errno == EFAULT);
  CHECK(pair.fetcher.asks());
  CHECK(pair.fetch(record) == Outcome::kAsked);
  CHECK(pair.lender.refused());
  CHECK(!pair.lender.fetched());
  return record;
}

TEST_CASE("what cannot be read any more is shared, and then nothing is lent") {
  for (const bool wanted_back : {false, true}) {
    Pair pair;
    Blob first = filled(1), second = filled(2);
    const LoanRecord a = lend_unreadable(pair, first);
    const LoanRecord b = pair.lender.lend(second, 2);
    if (wanted_back) {
      pair.lender.move_out();
      first = second = filled(9);
    } else {
      pair.lender.share();
    }
    CHECK(!pair.lender.refused());
    CHECK(!pair.lender.allowed());
    CHECK(!pair.fetcher.asks());
    CHECK(pair.fetch(a) == Outcome::kDone);
    CHECK(pair.place == filled(1));
    REQUIRE(pair.lender.fetched());
    CHECK(pair.lender.take_back() == 1);
    pair.words.loans[b.slot].address = 8;
    CHECK(pair.fetch(b) == Outcome::kAsked);
    REQUIRE(pair.lender.refused());
    pair.lender.share();
    pair.lender.move_out();
    CHECK(pair.fetch(b) == Outcome::kDone);
    CHECK(pair.place == filled(2));
    REQUIRE(pair.lender.fetched());
    CHECK(pair.lender.take_back() == 2);
    CHECK(!pair.lender.allowed());
    CHECK(!pair.lender.corrupt());
  }
}

TEST_CASE("what was refused and never shared ends with the peer, what was shared arrives") {
  for (const bool shared : {false, true}) {
    Pair pair;
    const Blob payload = filled(1);
    const LoanRecord record = lend_unreadable(pair, payload);
    if (shared) pair.lender.share();
    pair.fetcher.forget_peer();
    CHECK(!pair.fetcher.asks());
    CHECK(pair.fetch(record) == (shared ? Outcome::kDone : Outcome::kGone));
  }
  Pair pair;
  const Blob payload = filled(1);
  const LoanRecord record = lend_unreadable(pair, payload);
  pair.lender.withdraw();
  CHECK(pair.fetch(record) == Outcome::kGone);
}

TEST_CASE("an answer to what was not asked is none") {
  Pair pair;
  const Blob payload = filled(1);
  const LoanRecord record = lend_unreadable(pair, payload);
  LoanRecord other = record;
  other.number = 9;
  CHECK(pair.fetch(other) == Outcome::kCorrupt);
  pair.lender.share();
  other = record;
  other.slot = 1;
  CHECK(pair.fetch(other) != Outcome::kDone);
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
  const SocketPair sockets;
  Blob spare(kLoanBytesMax);
  Lender lender(words, spare.data());
  CHECK(!lender.allowed());
  Fetcher nobody(words, spare.data(), PeerMemory());
  nobody.probe();
  CHECK(!lender.allowed());
  Fetcher fetcher(words, spare.data(), PeerMemory(::getpid(), sockets.here, Fd()));
  words.probe ^= 1;
  fetcher.probe();
  CHECK(!lender.allowed());
  words.probe ^= 1;
  fetcher.probe();
  CHECK(lender.allowed());
}

TEST_CASE("the memory of another process is read as it is there, while that lives") {
  std::vector<std::byte> bytes(kBytes, std::byte{1});
  SocketPair sockets;
  const pid_t child = ::fork();
  if (child == 0) {
    std::fill(bytes.begin(), bytes.end(), std::byte{2});
    const char ready = 1;
    if (::write(sockets.there.number(), &ready, 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  char ready = 0;
  REQUIRE(::read(sockets.here.number(), &ready, 1) == 1);
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  REQUIRE(process);
  const PeerMemory memory(child, sockets.here, process);
  Blob place = filled(0);
  const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
  CHECK(memory.read(address, place) == PeerMemory::Read::kDone);
  CHECK(place == filled(2));
  CHECK(memory.read(8, place) == PeerMemory::Read::kRefused);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(memory.read(address, place) == PeerMemory::Read::kGone);
  const PeerMemory gone_unseen(child, sockets.here, Fd());  // nothing would tell of its end
  CHECK(gone_unseen.read(address, place) == PeerMemory::Read::kGone);
}

TEST_CASE("a peer that has left the connection is not read any more") {
  SocketPair sockets;
  Blob there = filled(3), here = filled(0);
  const PeerMemory memory(::getpid(), sockets.here, Fd());
  const auto address = reinterpret_cast<std::uintptr_t>(there.data());
  CHECK(memory.read(address, here) == PeerMemory::Read::kDone);
  CHECK(here == there);
  sockets.there.reset();
  CHECK(memory.read(address, here) == PeerMemory::Read::kGone);
}

}  // namespace livebtl::sm
