// SPDX-License-Identifier: BSD-3-Clause
// row_test.cc -- messages are put back in a row whatever the order in which they come, and one that
// is none of the row's is refused.
#include "transports/ofi/ofi_row.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "transports/ofi/ofi_domain.h"

using namespace livebtl;
using namespace livebtl::ofi;

TEST_CASE("whatever the order, they leave in order") {
  Random random(7);
  std::vector<Buffer> buffers(Row::kPlaces);
  Row row;
  std::uint32_t next = 0;
  for (int round = 0; round < 200; ++round) {
    const auto count = static_cast<std::uint32_t>(1 + random.below(Row::kPlaces));
    std::vector<std::uint32_t> numbers(count);
    for (std::uint32_t i = 0; i < count; ++i) numbers[i] = next + i;
    for (std::uint32_t i = count; i > 1; --i) std::swap(numbers[i - 1], numbers[random.below(i)]);
    std::uint32_t taken = 0;
    for (const std::uint32_t number : numbers) {
      REQUIRE(row.put(number, {&buffers[number % Row::kPlaces], number}, Row::kPlaces - taken));
      CHECK(row.has_gap() == !row.ready());
      for (; row.ready(); ++taken) CHECK(row.take().bytes == next + taken);
    }
    CHECK(taken == count);
    CHECK(!row.has_gap());
    next += count;
  }
}

TEST_CASE("twice, too early or too late is refused") {
  Buffer buffer;
  Row row;
  CHECK(!row.put(64, {&buffer, 1}, 64));
  CHECK(row.put(63, {&buffer, 1}, 64));
  CHECK(!row.put(63, {&buffer, 1}, 64));
  CHECK(row.has_gap());
  CHECK(row.put(0, {&buffer, 1}, 64));
  CHECK(row.take().buffer == &buffer);
  CHECK(!row.put(0, {&buffer, 1}, 64));
  CHECK(row.drop().buffer == &buffer);
  CHECK(row.drop().buffer == nullptr);
  CHECK(!row.has_gap());
}

TEST_CASE("how long one is missing counts from when that is seen, for that one alone") {
  Buffer buffer;
  Row row;
  CHECK(row.missing_for(100 * kSecond) == 0);
  REQUIRE(row.put(1, {&buffer, 1}, 64));
  CHECK(row.missing_for(200 * kSecond) == 0);  // a look long after the last
  CHECK(row.missing_for(203 * kSecond) == 3 * kSecond);
  REQUIRE(row.put(3, {&buffer, 1}, 64));
  REQUIRE(row.put(0, {&buffer, 1}, 64));
  (void)row.take();
  (void)row.take();
  CHECK(row.missing_for(204 * kSecond) == 0);  // another one
  CHECK(row.missing_for(206 * kSecond) == 2 * kSecond);
  REQUIRE(row.put(2, {&buffer, 1}, 64));
  CHECK(row.missing_for(207 * kSecond) == 0);
}
