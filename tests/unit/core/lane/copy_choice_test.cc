// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/lane/copy_choice_test.cc -- core/lane/copy_choice.h: the faster way is found, and found again.
#include "core/lane/copy_choice.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <utility>

namespace livebtl::core {
namespace {

using Way = CopyChoice::Way;

constexpr std::uint64_t kBytes = 512u << 10;
constexpr int kSeries = CopyChoice::series_of(kBytes).length();
constexpr int kTried = kSeries * CopyChoice::kTrials;

/// Transfers one after another, which take the times given below.
struct Machine {
  TimeNs copied = 100 * kMicrosecond, exposed = 100 * kMicrosecond;  // for a transfer of kBytes
  bool came = false;  // as many bytes from the peer meanwhile
  CopyChoice choice{};
  TimeNs now = kSecond;

  Way transfer(std::uint64_t bytes = kBytes) {
    const Way way = choice.next(bytes);
    const TimeNs begun = now;
    now += (way == Way::kCopied ? copied : exposed) * static_cast<TimeNs>(bytes) /
           static_cast<TimeNs>(kBytes);
    choice.took(way, bytes, came ? bytes : 0, begun, now);
    return way;
  }
  /// The first one after a change to `slow_first` takes six times as long.
  void transfer_slow_at_changes(Way& last, Way slow_first) {
    const Way way = choice.next(kBytes);
    const TimeNs begun = now;
    now += (way == Way::kCopied ? copied : exposed) * (way != last && way == slow_first ? 6 : 1);
    choice.took(way, kBytes, 0, begun, now);
    last = way;
  }
  /// How many of `count` transfers were exposed.
  int exposed_of(int count, std::uint64_t bytes = kBytes) {
    int sum = 0;
    for (int i = 0; i < count; ++i) sum += transfer(bytes) == Way::kExposed ? 1 : 0;
    return sum;
  }
};

}  // namespace

TEST_CASE("both ways are tried, then the faster one is taken") {
  for (const bool exposing : {false, true}) {
    Machine machine;
    (exposing ? machine.exposed : machine.copied) /= 2;
    CHECK(machine.exposed_of(kTried) == kTried / 2);
    const int others = (1000 / (kSeries * CopyChoice::kOtherWayEvery) + 1) * kSeries;
    const int exposed = machine.exposed_of(1000);
    if (exposing)
      CHECK(exposed >= 1000 - others);
    else
      CHECK(exposed <= others);
  }
}

TEST_CASE("sizes are told apart") {
  Machine machine;
  machine.copied /= 2;
  machine.exposed_of(200, 100u << 10);
  std::swap(machine.copied, machine.exposed);
  machine.exposed_of(60, 8u << 20);
  CHECK(machine.transfer(8u << 20) == Way::kExposed);
  CHECK(machine.transfer(100u << 10) == Way::kCopied);
}

TEST_CASE("what has become slower is left") {
  Machine machine;
  machine.copied /= 2;
  machine.exposed_of(200);
  REQUIRE(machine.transfer() == Way::kCopied);
  machine.copied *= 8;  // say, the sender computes, and its agent copies
  CHECK(machine.exposed_of(10'000) > 8000);
}

TEST_CASE("what has become faster is found") {
  Machine machine;
  machine.copied /= 2;
  machine.exposed_of(200);
  REQUIRE(machine.transfer() == Way::kCopied);
  machine.exposed /= 8;
  CHECK(machine.exposed_of(10'000) > 6000);
}

TEST_CASE("one transfer that took long for another reason changes nothing") {
  Machine machine;
  machine.copied /= 2;
  machine.exposed_of(60);
  const TimeNs usual = std::exchange(machine.copied, 10 * kSecond);
  REQUIRE(machine.transfer() == Way::kCopied);
  machine.copied = usual;
  CHECK(machine.exposed_of(30) == 0);
}

TEST_CASE("the first of a series, which is slow, does not decide") {
  for (const bool exposing : {false, true}) {
    Machine machine;
    (exposing ? machine.exposed : machine.copied) -= machine.copied / 10;
    Way last = Way::kCopied;
    for (int i = 0; i < 12 * kSeries; ++i)
      machine.transfer_slow_at_changes(last, exposing ? Way::kExposed : Way::kCopied);
    CHECK((last == Way::kExposed) == exposing);
  }
}

TEST_CASE("a way is known though some of its transfers in each series ended otherwise") {
  for (const bool exposing : {false, true}) {
    Machine machine;
    (exposing ? machine.exposed : machine.copied) /= 2;
    for (int i = 0; i < 4 * kSeries; ++i) {
      machine.transfer();
      if (i % 4 == 3) static_cast<void>(machine.choice.next(kBytes));
    }
    CHECK((machine.exposed_of(10) == 10) == exposing);
  }
}

TEST_CASE("one that waited for the one before began when that ended") {
  CopyChoice choice;
  TimeNs now = kSecond;
  // A window of transfers, posted at once: exposed ones take half as long, but wait for the others.
  for (int window = 0; window < 5; ++window) {
    std::array<Way, 16> ways{};
    for (Way& way : ways) way = choice.next(kBytes);
    const TimeNs posted = now;
    for (const Way way : ways) {
      now += way == Way::kCopied ? 100 * kMicrosecond : 50 * kMicrosecond;
      choice.took(way, kBytes, 0, posted, now);
    }
  }
  CHECK(choice.next(kBytes) == Way::kExposed);
}

TEST_CASE("what is exposed in vain is not chosen by the work") {
  CopyChoice choice;
  CopyWork& work = choice.work(kBytes);
  work.copied(CopyWork::Part::kIn, kBytes, 60 * kMicrosecond);
  work.copied(CopyWork::Part::kOut, kBytes, 60 * kMicrosecond);
  work.copied(CopyWork::Part::kRead, kBytes, 10 * kMicrosecond);
  int exposed = 0;
  for (int i = 0; i < 1000; ++i) {
    const TimeNs begun = i * kSecond;
    const Way way = choice.next(kBytes);
    if (way == Way::kExposed)
      ++exposed;  // the peer may not read: it is copied, and not timed
    else
      choice.took(way, kBytes, 0, begun, begun + kMicrosecond);
  }
  CHECK(exposed <= 3 * kSeries);
}

TEST_CASE("where no time was taken the work decides") {
  for (const bool exposing : {false, true}) {
    Machine machine;
    (exposing ? machine.exposed : machine.copied) /= 2;
    machine.came = true;
    CopyWork& work = machine.choice.work(kBytes);
    work.copied(CopyWork::Part::kIn, kBytes, 60 * kMicrosecond);
    work.copied(CopyWork::Part::kOut, kBytes, 60 * kMicrosecond);
    work.copied(CopyWork::Part::kRead, kBytes, (exposing ? 110 : 130) * kMicrosecond);
    machine.exposed_of(kTried + 20);
    machine.came = false;
    machine.exposed_of(16);  // until it notices
    CHECK((machine.exposed_of(kSeries) > kSeries / 2) == exposing);
  }
}

TEST_CASE(
    "while messages go both ways the work of both ends decides, and the time does when they do "
    "not") {
  for (const bool exposing : {false, true}) {
    Machine machine;
    // Each transfer ends sooner by the way that means more work for both ends together.
    (exposing ? machine.copied : machine.exposed) /= 2;
    CHECK((machine.exposed_of(kTried + 100) > kTried) != exposing);
    using Part = CopyWork::Part;
    CopyWork& work = machine.choice.work(kBytes);
    work.copied(Part::kIn, kBytes, 60 * kMicrosecond);
    work.copied(Part::kOut, kBytes, 60 * kMicrosecond);
    machine.came = true;
    const int unknown = machine.exposed_of(100);  // the cost of a read is not known
    CHECK((unknown > 50) != exposing);
    work.copied(Part::kRead, kBytes, (exposing ? 110 : 130) * kMicrosecond);
    const int of_1000 = machine.exposed_of(1000);
    CHECK((exposing ? of_1000 : 1000 - of_1000) > 900);
    machine.came = false;
    machine.exposed_of(20);
    CHECK((machine.exposed_of(100) > 50) != exposing);
  }
}

TEST_CASE("in windows of transfers the other way is not always tried in the same place of one") {
  std::array<int, 64> tried{};
  Machine machine;
  machine.copied /= 2;
  machine.exposed_of(kTried);
  for (int i = 0; i < 64 * 512; ++i) {
    if (machine.transfer() == Way::kExposed) ++tried[static_cast<std::size_t>(i % 64)];
  }
  CHECK(*std::ranges::max_element(tried) <= 2 * *std::ranges::min_element(tried) + 1);
  CHECK(*std::ranges::min_element(tried) > 0);
}

TEST_CASE("a way of which nothing is known is not taken for the faster one") {
  CopyChoice choice;
  for (TimeNs now = 1; now < kTried + 10; ++now) {
    const Way way = choice.next(kBytes);
    if (way == Way::kCopied)
      choice.took(way, kBytes, 0, now * kSecond, now * kSecond + kMicrosecond);
  }
  CHECK(choice.next(kBytes) == Way::kCopied);
}

}  // namespace livebtl::core
