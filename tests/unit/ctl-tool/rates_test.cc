// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/ctl-tool/rates_test.cc -- what moved between two looks, and who waits for whom.
#include "ctl-tool/rates.h"

#include <doctest/doctest.h>

#include "some_pages.h"

using namespace livebtl;
using namespace livebtl::test;
using tool::rates_between;

TEST_CASE("rates are by the time between the copies, not between the looks") {
  const auto rates = rates_between(some_pages(1'000, 10'000), some_pages(1'500, 20'000));
  REQUIRE(rates.transports.size() == 2);
  CHECK(rates.transports[0].name == "sm");
  CHECK(rates.transports[0].pairs == 2);  // 0 with 1, and 2 with 3
  CHECK(rates.transports[0].state == "open");
  CHECK(rates.transports[0].rate.bytes_sent == doctest::Approx(4 * 20'000.0));
  CHECK(rates.transports[1].pairs == 4);
  CHECK(rates.pairs.size() == 12);
  CHECK(rates.pairs[0].rate.bytes_sent == doctest::Approx(20'000.0));
  CHECK(rates.pairs[0].rate.messages_sent == doctest::Approx(200.0));
  CHECK(rates.busy.empty());
}

TEST_CASE("what has copied nothing meanwhile, began anew or is new has no rate") {
  const auto same = rates_between(some_pages(1'000), some_pages(1'000));
  CHECK(same.transports[0].rate.bytes_sent == 0);
  const auto less = rates_between(some_pages(1'000, 20'000), some_pages(2'000, 10'000));
  CHECK(less.transports[0].rate.bytes_sent == 0);
  const auto fresh = rates_between({}, some_pages(2'000));
  CHECK(fresh.transports[0].rate.bytes_sent == 0);
  CHECK(fresh.pairs.size() == 12);
}

TEST_CASE("who waits is named with what for, and so is what was lost") {
  tool::Pages now = some_pages();
  now.pages[2].pairs[0].awaited = 1;
  now.pages[2].pairs[0].queued = 1000;
  now.pages[3].pairs[0].untaken = 2;
  now.pages[3].pairs[0].queued = 1;
  now.pages[3].pairs[0].out_of_credit = true;
  now.pages[2].losses = {{5'000, ProcessId{100}, "tcp", "reset\x1b[31m"},
                         {6'000, ProcessId{101}, "", "dead"}};
  now.pages[2].losses_total = 7;
  now.pages[1].rung = control::Rung::kNewTx;
  now.pages[1].reached = false;
  now.pages[1].doing = "switch sm tcp";
  now.pages[1].waiting = "the marker of rank 0";
  const auto rates = rates_between(some_pages(), now);
  CHECK(rates.pairs[0].process == "rank 2");
  CHECK(rates.pairs[0].peer == "rank 0");
  CHECK(rates.pairs[0].waits == "1 receive from it; 1000 frames or more to it queued");
  CHECK(rates.pairs[1].process == "rank 3");
  CHECK(rates.pairs[1].waits ==
        "2 sends that it has not received; 1 frame to it queued until it receives");
  CHECK(rates.pairs[1].now.untaken == 2);
  CHECK(rates.pairs[2].waits.empty());
  REQUIRE(rates.losses.size() == 2);
  CHECK(rates.losses[0].peer == "rank 1");  // the newest first
  CHECK(rates.losses[1].why.find('\x1b') == std::string::npos);
  CHECK(rates.losses_total == 7);
  REQUIRE(rates.busy.size() == 1);
  CHECK(rates.busy[0] == "rank 1: switch sm tcp, newtx, waits for the marker of rank 0");
}
