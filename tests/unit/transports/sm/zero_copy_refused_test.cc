// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/sm/zero_copy_refused_test.cc -- transports/sm/sm_zero_copy.h when the
// receiver can no longer read.
#include <cerrno>

#include "tests/unit/transports/sm/zero_copy_kit.h"

namespace livebtl::sm {
namespace {

/// Exposes the first payload, which then can no longer be read.
ExposureRecord expose_unreadable(Pair& pair, Bytes payload) {
  const ExposureRecord record = pair.expose(payload, 1);
  pair.words.exposures[record.slot].place = 8;
  CHECK(pair.read(record) == Outcome::kAsked);
  CHECK(errno == EFAULT);
  CHECK(pair.reader.asks());
  CHECK(pair.read(record) == Outcome::kAsked);
  CHECK(pair.exporter.refused());
  CHECK(!pair.exporter.was_read());
  return record;
}

void take_shared(Pair& pair, const ExposureRecord& record, const Blob& expected) {
  CHECK(!pair.exporter.refused());
  CHECK(!pair.exporter.allowed());
  CHECK(!pair.reader.asks());
  CHECK(pair.read(record) == Outcome::kDone);
  CHECK(pair.place == expected);
  REQUIRE(pair.exporter.was_read());
  pair.exporter.take_back();
}

}  // namespace

TEST_CASE("what cannot be read any more is shared, and then nothing is exposed") {
  for (const bool wanted_back : {false, true}) {
    Pair pair;
    Blob first = filled(1), second = filled(2);
    const ExposureRecord a = expose_unreadable(pair, first);
    const ExposureRecord b = pair.expose(second, 2);
    if (wanted_back) {
      pair.exporter.move_out();
      first = second = filled(9);
    } else {
      pair.exporter.share();
    }
    take_shared(pair, a, filled(1));
    pair.words.exposures[b.slot].place = 8;
    CHECK(pair.read(b) == Outcome::kAsked);
    REQUIRE(pair.exporter.refused());
    pair.exporter.share();
    pair.exporter.move_out();
    take_shared(pair, b, filled(2));
    CHECK(!pair.exporter.corrupt());
  }
}

TEST_CASE(
    "what had been read when its owner wanted it back is not looked at again, whatever the peer "
    "writes") {
  Pair pair;
  const Blob payload = filled(1);
  const ExposureRecord record = pair.expose(payload, 7);
  REQUIRE(pair.read(record) == Outcome::kDone);
  pair.exporter.move_out();
  for (std::uint64_t state = 0; state < 8; ++state) {
    pair.words.exposures[record.slot].state = record.number << 3 | state;
    CHECK(!pair.exporter.refused());
    CHECK(pair.exporter.was_read());
  }
  CHECK(!pair.exporter.corrupt());
  CHECK(pair.exporter.take_back() == 7);
  CHECK(pair.exporter.outstanding() == 0);
}

TEST_CASE("what was refused and never shared ends with the peer, what was shared arrives") {
  for (const bool shared : {false, true}) {
    Pair pair;
    const Blob payload = filled(1);
    const ExposureRecord record = expose_unreadable(pair, payload);
    if (shared) pair.exporter.share();
    pair.reader.forget_peer();
    CHECK(!pair.reader.asks());
    CHECK(pair.read(record) == (shared ? Outcome::kDone : Outcome::kGone));
  }
  Pair pair;
  const Blob payload = filled(1);
  const ExposureRecord record = expose_unreadable(pair, payload);
  pair.exporter.withdraw();
  CHECK(pair.read(record) == Outcome::kGone);
}

TEST_CASE("a refusal out of turn does not lead to a payload that is its owner's again") {
  Pair pair;
  Blob first = filled(1), second = filled(2);
  const ExposureRecord a = pair.expose(first, 1);
  const ExposureRecord b = pair.expose(second, 2);
  pair.words.exposures[b.slot].state = b.number << 3 | 4;  // refused, before the first was read
  pair.exporter.move_out();
  first = second = filled(9);
  CHECK(pair.read(a) == Outcome::kDone);
  CHECK(pair.place == filled(1));
  REQUIRE(pair.exporter.was_read());
  pair.exporter.take_back();
  REQUIRE(pair.exporter.refused());
  pair.exporter.share();
  pair.spare.resize(kBytes);
  CHECK(pair.spare == filled(2));
}

TEST_CASE("an answer to what was not asked is none") {
  Pair pair;
  const Blob payload = filled(1);
  const ExposureRecord record = expose_unreadable(pair, payload);
  ExposureRecord other = record;
  other.number = 9;
  CHECK(pair.read(other) == Outcome::kCorrupt);
  pair.exporter.share();
  other = record;
  other.slot = 1;
  CHECK(pair.read(other) != Outcome::kDone);
}

}  // namespace livebtl::sm
