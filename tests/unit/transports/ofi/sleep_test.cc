// SPDX-License-Identifier: BSD-3-Clause
// sleep_test.cc -- a sleeper is woken by the provider's descriptor, or by a clock where none can be
// trusted.
#include "transports/ofi/ofi_sleep.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/eventfd.h>

using namespace livebtl;
using namespace livebtl::ofi;

namespace {

constexpr int kDeadlineMs = 30'000;

bool readable(int fd, int timeout_ms) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, timeout_ms) == 1;
}

}  // namespace

TEST_CASE("without a descriptor a clock rings, once for each sleep") {
  auto sleep = Sleep::open();
  REQUIRE(sleep.has_value());
  for (int i = 0; i < 3; ++i) {
    REQUIRE(sleep->arm());
    CHECK(readable(sleep->fd(), kDeadlineMs));
    sleep->wake();
    CHECK(!readable(sleep->fd(), 0));
  }
}

TEST_CASE("the provider's descriptor wakes, and no clock rings beside it") {
  const Fd event(::eventfd(0, EFD_NONBLOCK));
  auto sleep = Sleep::open();
  REQUIRE(sleep.has_value());
  sleep->watch(event.number());
  REQUIRE(sleep->arm());
  CHECK(!readable(sleep->fd(), 20));
  ::eventfd_write(event.number(), 1);
  CHECK(readable(sleep->fd(), kDeadlineMs));
  CHECK(!sleep->arm());
}

TEST_CASE("one that shows work for ever is trusted no more") {
  const Fd event(::eventfd(1, EFD_NONBLOCK));
  auto sleep = Sleep::open();
  REQUIRE(sleep.has_value());
  sleep->watch(event.number());
  int refusals = 0;
  while (!sleep->arm()) REQUIRE(++refusals < 1000);
  CHECK(refusals > 1);
  CHECK(readable(sleep->fd(), kDeadlineMs));  // the clock
  sleep->wake();
  CHECK(!readable(sleep->fd(), 0));
}

TEST_CASE("one that showed work that was there stays trusted") {
  const Fd event(::eventfd(1, EFD_NONBLOCK));
  auto sleep = Sleep::open();
  REQUIRE(sleep.has_value());
  sleep->watch(event.number());
  for (int i = 0; i < 1000; ++i) {
    CHECK(!sleep->arm());
    sleep->worked();
  }
}
