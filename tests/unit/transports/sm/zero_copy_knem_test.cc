// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/sm/zero_copy_knem_test.cc -- transports/sm/sm_zero_copy.h with KNEM: which
// way is chosen, no region is left behind, what the kernel refuses still arrives.
#include <cerrno>
#include <vector>

#include "tests/conformance/fake_knem.h"
#include "tests/unit/transports/sm/zero_copy_kit.h"

namespace livebtl::sm {
namespace {

using conformance::FakeKnem;

/// Both sides have that device, and neither process may read the other, as under Yama.
struct KnemPair : Pair {
  explicit KnemPair(FakeKnem& fake, SingleCopy way = SingleCopy::kAuto)
      : Pair(fake.device(), way, PeerMemory()) {}
};

constexpr std::size_t kProbeAlone = 1;  // regions of a pair that exposes nothing

void take_back(Pair& pair, std::uint64_t cookie) {
  REQUIRE(pair.exporter.was_read());
  CHECK(pair.exporter.take_back() == cookie);
}

}  // namespace

TEST_CASE("where cma is refused, what is exposed is read by knem, and no region is left") {
  FakeKnem fake;
  {
    KnemPair pair(fake);
    CHECK(pair.words.readable == kByKnem);
    for (std::uint64_t round = 0; round < 3 * kExposuresMax; ++round) {
      const Blob payload = filled(static_cast<int>(round));
      const ExposureRecord record = pair.expose(payload, round);
      CHECK(record.way == kByKnem);
      CHECK(fake.regions() == kProbeAlone + 1);
      CHECK(pair.read(record) == Outcome::kDone);
      CHECK(pair.place == payload);
      take_back(pair, round);
      CHECK(fake.regions() == kProbeAlone);
    }
    CHECK(!pair.exporter.corrupt());
  }
  CHECK(fake.regions() == 0);
  CHECK(fake.mistakes == 0);
}

TEST_CASE("which way is taken: what is wanted of what the peer has shown") {
  struct Case {
    bool cma, knem;
    SingleCopy wanted;
    CopyWay expected;
  };
  const Case cases[] = {
      {true, true, SingleCopy::kAuto, kByCma},   {false, true, SingleCopy::kAuto, kByKnem},
      {true, false, SingleCopy::kAuto, kByCma},  {true, true, SingleCopy::kCma, kByCma},
      {false, true, SingleCopy::kCma, kByNone},  {true, true, SingleCopy::kKnem, kByKnem},
      {true, false, SingleCopy::kKnem, kByNone}, {true, true, SingleCopy::kNone, kByNone},
      {false, false, SingleCopy::kAuto, kByNone}};
  for (const Case& each : cases) {
    FakeKnem fake;
    Pair pair(each.knem ? fake.device() : KnemDevice(), each.wanted,
              each.cma ? PeerMemory(::getpid()) : PeerMemory());
    const Blob payload = filled(1);
    CHECK(pair.exporter.allowed() == (each.expected != kByNone));
    if (pair.exporter.allowed()) CHECK(pair.expose(payload, 1).way == each.expected);
  }
}

TEST_CASE("the way changes from one exposure to the next, and each is read as it was exposed") {
  FakeKnem fake;
  Pair pair(fake.device());
  const Blob payload = filled(1);
  std::vector<ExposureRecord> records;
  for (const SingleCopy way : {SingleCopy::kKnem, SingleCopy::kCma, SingleCopy::kKnem}) {
    pair.exporter.copy_by(way);
    records.push_back(pair.expose(payload, records.size()));
    CHECK(records.back().way == (way == SingleCopy::kCma ? kByCma : kByKnem));
  }
  const std::size_t before = fake.copies;
  for (const ExposureRecord& record : records) {
    CHECK(pair.read(record) == Outcome::kDone);
    CHECK(pair.place == payload);
  }
  CHECK(fake.copies == before + 2);
  for (std::uint64_t each = 0; each < 3; ++each) take_back(pair, each);
  CHECK(fake.regions() == kProbeAlone);
}

TEST_CASE("memory that its owner wants back: the copy has a region, and the payload's is gone") {
  FakeKnem fake;
  KnemPair pair(fake);
  Blob first = filled(1), second = filled(2);
  const ExposureRecord a = pair.expose(first, 1);
  const ExposureRecord b = pair.expose(second, 2);
  const std::uint64_t before = pair.words.exposures[a.slot].place;
  pair.exporter.move_out();
  pair.exporter.move_out();
  CHECK(fake.regions() == kProbeAlone + 2);
  CHECK(pair.words.exposures[a.slot].place != before);
  first = second = filled(9);
  CHECK(pair.read(a) == Outcome::kDone);
  CHECK(pair.place == filled(1));
  CHECK(pair.read(b) == Outcome::kDone);
  CHECK(pair.place == filled(2));
  take_back(pair, 1);
  take_back(pair, 2);
  CHECK(fake.regions() == kProbeAlone);
  CHECK(fake.mistakes == 0);
}

TEST_CASE("... and where the copy gets none, it is shared") {
  FakeKnem fake;
  KnemPair pair(fake);
  Blob payload = filled(1);
  const ExposureRecord record = pair.expose(payload, 1);
  fake.creates_left = 0;
  pair.exporter.move_out();
  payload = filled(9);
  CHECK(fake.regions() == kProbeAlone);
  CHECK(pair.read(record) == Outcome::kAsked);
  CHECK(errno == ENOMEM);
  REQUIRE(pair.exporter.refused());
  pair.exporter.share();
  CHECK(pair.read(record) == Outcome::kDone);
  CHECK(pair.place == filled(1));
  take_back(pair, 1);
  CHECK(!pair.exporter.corrupt());
}

TEST_CASE("what the kernel gives no region for is not exposed, and the next is") {
  FakeKnem fake;
  KnemPair pair(fake);
  const Blob payload = filled(1);
  fake.creates_left = 0;
  CHECK(!pair.exporter.expose(payload, 1).has_value());
  CHECK(pair.exporter.outstanding() == 0);
  fake.creates_left = -1;
  const ExposureRecord record = pair.expose(payload, 2);
  CHECK(pair.read(record) == Outcome::kDone);
  take_back(pair, 2);
}

TEST_CASE("a pair whose probe gets no region has no knem") {
  FakeKnem fake;
  fake.creates_left = 0;
  KnemPair pair(fake, SingleCopy::kKnem);
  CHECK(pair.words.probe_cookie == 0);
  CHECK(pair.words.readable == 0);
  CHECK(!pair.exporter.allowed());
}

TEST_CASE("a copy that fails half-way is refused, then shared, and the bytes are right") {
  for (const bool wanted_back : {false, true}) {
    FakeKnem fake;
    KnemPair pair(fake);
    Blob payload = filled(1);
    const ExposureRecord record = pair.expose(payload, 1);
    fake.copies_left = 0;
    CHECK(pair.read(record) == Outcome::kAsked);
    CHECK(errno == EFAULT);
    REQUIRE(pair.exporter.refused());
    if (wanted_back) {
      pair.exporter.move_out();
      payload = filled(9);
    } else {
      pair.exporter.share();
    }
    CHECK(fake.regions() == kProbeAlone);
    CHECK(pair.read(record) == Outcome::kDone);
    CHECK(pair.place == filled(1));
    take_back(pair, 1);
    CHECK(!pair.exporter.allowed());
    CHECK(fake.mistakes == 0);
  }
}

TEST_CASE("what is withdrawn leaves no region, moved or not, and is not read") {
  FakeKnem fake;
  KnemPair pair(fake);
  const Blob payload = filled(1);
  const ExposureRecord a = pair.expose(payload, 1);
  pair.exporter.move_out();
  const ExposureRecord b = pair.expose(payload, 2);
  pair.exporter.withdraw();
  CHECK(fake.regions() == 0);
  CHECK(pair.read(a) == Outcome::kGone);
  CHECK(pair.read(b) == Outcome::kGone);
  CHECK(fake.mistakes == 0);
}

TEST_CASE(
    "a peer's words about ways are hostile: unknown bits, unknown and unshown ways, cookies") {
  FakeKnem fake;
  const KnemDevice absent, device = fake.device();
  ZeroCopyWords words;
  Blob spare(kExposureBytesMax);
  Exporter nothing_known(words, spare.data(), device);
  words.readable = ~std::uint64_t{kByCma | kByKnem};
  CHECK(!nothing_known.allowed());
  ZeroCopyWords others;
  Exporter without(others, spare.data(), absent);
  others.readable = kByKnem;  // of a process without such a device
  CHECK(!without.allowed());
}

TEST_CASE("a peer that exposes in an unknown or unshown way, or another region, is not read") {
  FakeKnem fake;
  KnemPair pair(fake);
  const Blob payload = filled(1);
  const ExposureRecord good = pair.expose(payload, 1);
  for (const int way : {0, 1, 3, 4, 6, 0xffff}) {
    ExposureRecord bad = good;
    bad.way = static_cast<std::uint16_t>(way);
    CHECK(pair.read(bad) == Outcome::kCorrupt);
  }
  const std::size_t before = fake.copies;
  pair.words.exposures[good.slot].place = pair.words.probe_cookie;  // a region, but too short
  CHECK(pair.read(good) == Outcome::kAsked);
  CHECK(fake.copies == before + 1);
  REQUIRE(pair.exporter.refused());
  pair.exporter.share();
  CHECK(pair.read(good) == Outcome::kDone);
  CHECK(pair.place == payload);
}

}  // namespace livebtl::sm
