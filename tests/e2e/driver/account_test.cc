// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/driver/account_test.cc -- what counts as a switch.
#include "tests/e2e/driver/account.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "tests/e2e/driver/starved.h"

using namespace livebtl;
using namespace livebtl::e2e;

namespace {

const PairName kPair{ProcessId{1}, ProcessId{2}};
const PairName kOther{ProcessId{2}, ProcessId{1}};

PairCounts sent(std::uint64_t messages, std::uint64_t on_sm, std::uint64_t on_tcp) {
  return {messages, {{"sm", on_sm}, {"tcp", on_tcp}}};
}

}  // namespace

TEST_CASE("a switch counts when every active pair has sent a message on the new transport") {
  SwitchAccount account;
  account.before_switch({{kPair, sent(5, 9, 0)}, {kOther, sent(3, 4, 0)}}, "sm");
  account.after_switch({{kPair, sent(6, 9, 2)}, {kOther, sent(3, 4, 1)}}, "tcp");
  CHECK(account.active_pairs() == 2);
  CHECK(account.outstanding({{kPair, sent(6, 9, 2)}, {kOther, sent(3, 4, 1)}}).size() == 2);
  CHECK(account.outstanding({{kPair, sent(7, 9, 3)}, {kOther, sent(3, 4, 1)}}) ==
        std::vector{kOther});
  CHECK(account.outstanding({{kPair, sent(7, 9, 3)}, {kOther, sent(4, 4, 2)}}).empty());
}

TEST_CASE("messages that went on over the old transport do not count") {
  SwitchAccount account;
  account.before_switch({{kPair, sent(5, 9, 0)}}, "sm");
  account.after_switch({{kPair, sent(6, 9, 1)}}, "tcp");
  CHECK(account.outstanding({{kPair, sent(8, 12, 1)}}).size() == 1);
}

TEST_CASE("a frame on the transport left, after the switch had ended, is told") {
  SwitchAccount account;
  account.before_switch({{kPair, sent(5, 9, 0)}, {kOther, sent(3, 4, 0)}}, "sm");
  account.after_switch({{kPair, sent(6, 10, 1)}, {kOther, sent(3, 4, 1)}}, "tcp");
  CHECK(account.stayed({{kPair, sent(6, 10, 1)}, {kOther, sent(9, 4, 9)}}).empty());
  CHECK(account.stayed({{kPair, sent(7, 11, 3)}, {kOther, sent(9, 4, 9)}}) == std::vector{kPair});
  CHECK(account.stayed({}).empty());
}

TEST_CASE(
    "where connections are cut, frames of a handshake on the transport left are no messages") {
  SwitchAccount account(4);
  account.before_switch({{kPair, sent(5, 9, 0)}}, "sm");
  account.after_switch({{kPair, sent(6, 10, 1)}}, "tcp");
  CHECK(account.stayed({{kPair, sent(7, 14, 3)}}).empty());
  CHECK(account.stayed({{kPair, sent(7, 15, 3)}}) == std::vector{kPair});
}

TEST_CASE("control frames without a message do not count") {
  SwitchAccount account;
  account.before_switch({{kPair, sent(5, 9, 0)}}, "sm");
  account.after_switch({{kPair, sent(6, 9, 1)}}, "tcp");
  CHECK(account.outstanding({{kPair, sent(6, 9, 4)}}).size() == 1);
}

TEST_CASE("a pair that was silent since the last switch need not speak") {
  SwitchAccount account;
  account.before_switch({{kPair, sent(5, 9, 0)}, {kOther, sent(3, 4, 0)}}, "sm");
  account.after_switch({{kPair, sent(5, 9, 1)}, {kOther, sent(3, 4, 1)}}, "tcp");
  account.before_switch({{kPair, sent(7, 9, 3)}, {kOther, sent(3, 4, 1)}}, "tcp");
  CHECK(account.active_pairs() == 1);
}

TEST_CASE("a pair that has left is let off") {
  SwitchAccount account;
  account.before_switch({{kPair, sent(5, 9, 0)}}, "sm");
  account.after_switch({{kPair, sent(5, 9, 1)}}, "tcp");
  CHECK(account.outstanding({}).empty());
}

TEST_CASE("lost peers and oneself are no pairs") {
  core::EngineStatus engine;
  engine.process = ProcessId{1};
  for (const std::uint64_t id : {1u, 2u, 3u}) engine.peers.emplace_back().process = ProcessId{id};
  engine.peers[2].lost = true;
  const Counts counts = counts_of({engine});
  CHECK(counts.size() == 1);
  CHECK(counts.contains(kPair));
}

TEST_CASE("percentiles are by nearest rank") {
  CHECK(percentile({3, 1, 2, 4}, 50) == 2);
  CHECK(percentile({3, 1, 2, 4}, 99) == 4);
  CHECK(percentile({7}, 50) == 7);
}

TEST_CASE("the kernel's account of a thread's waiting is read, and nothing else") {
  CHECK(parse_run_delay("441204 1200 7") == 1200);
  CHECK(parse_run_delay("0 0 0") == 0);
  for (const char* bad : {"", "441204", "1 x 2", "1 2x 3", " "}) CHECK_FALSE(parse_run_delay(bad));
}

TEST_CASE("the longest wait is that of one thread, and a new thread's counts from its start") {
  CHECK(longest_wait({{1, 100}, {2, 50}}, {{1, 130}, {2, 90}}) == 40);
  CHECK(longest_wait({{1, 100}}, {{1, 110}, {3, 70}}) == 70);
  CHECK(longest_wait({{1, 100}, {2, 5}}, {{1, 100}}) == 0);
  CHECK(run_delays().empty() == !std::filesystem::exists("/proc/self/schedstat"));
}
