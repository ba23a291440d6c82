// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/core/lane/copy_choice_test.cc -- core/lane/copy_choice.h: the faster way is found, and found again.
#include "core/lane/copy_choice.h"

#include <doctest/doctest.h>

#include <utility>

namespace livebtl::core {
namespace {

using Way = CopyChoice::Way;

constexpr std::uint64_t kBytes = 512u << 10;
constexpr int kSeries = CopyChoice::kSeries;
constexpr int kTried = kSeries * CopyChoice::kTrials;

/// Transfers one after the other, which take as long as the machine has it.
struct Machine {
  TimeNs copied = 100 * kMicrosecond, exposed = 100 * kMicrosecond;  // a transfer of kBytes
  CopyChoice choice{};
  TimeNs now = kSecond;

  Way transfer(std::uint64_t bytes = kBytes) {
    const Way way = choice.next(bytes);
    const TimeNs begun = now;
    now += (way == Way::kCopied ? copied : exposed) * static_cast<TimeNs>(bytes) /
           static_cast<TimeNs>(kBytes);
    choice.took(way, bytes, begun, now);
    return way;
  }
  /// How many of so many were exposed.
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
  machine.exposed_of(100, 100u << 10);
  std::swap(machine.copied, machine.exposed);
  machine.exposed_of(100, 8u << 20);
  CHECK(machine.transfer(8u << 20) == Way::kExposed);
  CHECK(machine.transfer(100u << 10) == Way::kCopied);
}

TEST_CASE("what has become slower is left") {
  Machine machine;
  machine.copied /= 2;
  machine.exposed_of(200);
  REQUIRE(machine.transfer() == Way::kCopied);
  machine.copied *= 8;  // say, the sender computes now, and its agent copies
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
  machine.exposed_of(100);
  const TimeNs usual = std::exchange(machine.copied, 10 * kSecond);
  REQUIRE(machine.transfer() == Way::kCopied);
  machine.copied = usual;
  CHECK(machine.exposed_of(100) == 0);
}

TEST_CASE("one that waited for the one before began when that ended") {
  CopyChoice choice;
  TimeNs now = kSecond;
  // A window of transfers, posted at once: exposed ones take half as long, and wait for the others.
  for (int window = 0; window < 5; ++window) {
    std::array<Way, 16> ways{};
    for (Way& way : ways) way = choice.next(kBytes);
    const TimeNs posted = now;
    for (const Way way : ways) {
      now += way == Way::kCopied ? 100 * kMicrosecond : 50 * kMicrosecond;
      choice.took(way, kBytes, posted, now);
    }
  }
  CHECK(choice.next(kBytes) == Way::kExposed);
}

TEST_CASE("a way of which nothing is known is not taken for the faster one") {
  CopyChoice choice;
  for (TimeNs now = 1; now < kTried + 10; ++now) {
    const Way way = choice.next(kBytes);
    if (way == Way::kCopied) choice.took(way, kBytes, now * kSecond, now * kSecond + kMicrosecond);
  }
  CHECK(choice.next(kBytes) == Way::kCopied);
}

}  // namespace livebtl::core
