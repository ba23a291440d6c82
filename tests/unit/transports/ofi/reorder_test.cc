// SPDX-License-Identifier: BSD-3-Clause
// reorder_test.cc -- messages are put back in order, whatever order they come in, and one that is
// not due is refused.
#include "transports/ofi/ofi_reorder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "transports/ofi/ofi_domain.h"

using namespace livebtl;
using namespace livebtl::ofi;

TEST_CASE("whatever the order, they leave in order") {
  Random random(7);
  std::vector<Buffer> buffers(ReorderWindow::kPlaces);
  ReorderWindow window;
  std::uint32_t next = 0;
  for (int round = 0; round < 200; ++round) {
    const auto count = static_cast<std::uint32_t>(1 + random.below(ReorderWindow::kPlaces));
    std::vector<std::uint32_t> numbers(count);
    for (std::uint32_t i = 0; i < count; ++i) numbers[i] = next + i;
    for (std::uint32_t i = count; i > 1; --i) std::swap(numbers[i - 1], numbers[random.below(i)]);
    std::uint32_t taken = 0;
    for (const std::uint32_t number : numbers) {
      REQUIRE(window.put(number, {&buffers[number % ReorderWindow::kPlaces], number},
                         ReorderWindow::kPlaces - taken));
      CHECK(window.has_gap() == !window.ready());
      for (; window.ready(); ++taken) CHECK(window.take().bytes == next + taken);
    }
    CHECK(taken == count);
    CHECK(!window.has_gap());
    next += count;
  }
}

TEST_CASE("twice, too early or too late is refused") {
  Buffer buffer;
  ReorderWindow window;
  CHECK(!window.put(64, {&buffer, 1}, 64));
  CHECK(window.put(63, {&buffer, 1}, 64));
  CHECK(!window.put(63, {&buffer, 1}, 64));
  CHECK(window.has_gap());
  CHECK(window.put(0, {&buffer, 1}, 64));
  CHECK(window.take().buffer == &buffer);
  CHECK(!window.put(0, {&buffer, 1}, 64));
  CHECK(window.drop().buffer == &buffer);
  CHECK(window.drop().buffer == nullptr);
  CHECK(!window.has_gap());
}

TEST_CASE("how long one is missing counts from when that is seen, for that one alone") {
  Buffer buffer;
  ReorderWindow window;
  CHECK(window.missing_for(100 * kSecond) == 0);
  REQUIRE(window.put(1, {&buffer, 1}, 64));
  CHECK(window.missing_for(200 * kSecond) == 0);  // first check, long after the last
  CHECK(window.missing_for(203 * kSecond) == 3 * kSecond);
  REQUIRE(window.put(3, {&buffer, 1}, 64));
  REQUIRE(window.put(0, {&buffer, 1}, 64));
  (void)window.take();
  (void)window.take();
  CHECK(window.missing_for(204 * kSecond) == 0);  // a different one is missing
  CHECK(window.missing_for(206 * kSecond) == 2 * kSecond);
  REQUIRE(window.put(2, {&buffer, 1}, 64));
  CHECK(window.missing_for(207 * kSecond) == 0);
}
