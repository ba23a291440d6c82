// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/sm/lending_refused_test.cc -- transports/sm/sm_lending.h where the receiver cannot
// read any more.
#include <cerrno>

#include "tests/unit/transports/sm/lending_kit.h"

namespace livebtl::sm {
namespace {

/// What is lent first cannot be read any more.
LoanRecord lend_unreadable(Pair& pair, Bytes payload) {
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

void take_shared(Pair& pair, const LoanRecord& record, const Blob& expected) {
  CHECK(!pair.lender.refused());
  CHECK(!pair.lender.allowed());
  CHECK(!pair.fetcher.asks());
  CHECK(pair.fetch(record) == Outcome::kDone);
  CHECK(pair.place == expected);
  REQUIRE(pair.lender.fetched());
  pair.lender.take_back();
}

}  // namespace

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
    take_shared(pair, a, filled(1));
    pair.words.loans[b.slot].address = 8;
    CHECK(pair.fetch(b) == Outcome::kAsked);
    REQUIRE(pair.lender.refused());
    pair.lender.share();
    pair.lender.move_out();
    take_shared(pair, b, filled(2));
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

}  // namespace livebtl::sm
