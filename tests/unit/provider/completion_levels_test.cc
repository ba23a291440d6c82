// SPDX-License-Identifier: BSD-3-Clause
// When a send is complete, by the level that was asked for, injected or not.
#include <doctest/doctest.h>

#include <string>

#include "pair.h"

using namespace livebtl;
using namespace livebtl::fake;

namespace {

ssize_t send(Pair& pair, const char* bytes, std::size_t count, std::uint64_t flags) {
  iovec piece = {const_cast<char*>(bytes), count};
  fi_msg_tagged msg{};
  msg.msg_iov = &piece;
  msg.iov_count = 1;
  msg.addr = pair.address[1];
  msg.tag = 1;
  return fi_tsendmsg(pair.ep[0], &msg, flags | FI_COMPLETION);
}

/// Is the sender told before the receiver has posted a receive?
bool is_told_at_once(Pair& pair) {
  fi_cq_tagged_entry entry;
  engine().progress();
  return pair.next(0, entry) == 1;
}

std::string receive(Pair& pair) {
  char buffer[4] = {};
  fi_cq_tagged_entry entry;
  REQUIRE(fi_trecv(pair.ep[1], buffer, sizeof buffer, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr) == 0);
  REQUIRE(pair.next(1, entry) == 1);
  return {buffer, entry.len};
}

constexpr std::uint64_t kThatWait[] = {FI_DELIVERY_COMPLETE, FI_MATCH_COMPLETE};
constexpr std::uint64_t kThatDoNot[] = {0, FI_INJECT_COMPLETE, FI_TRANSMIT_COMPLETE};

}  // namespace

TEST_CASE("no level up to FI_TRANSMIT_COMPLETE waits for a receive") {
  for (const std::uint64_t level : kThatDoNot) {
    CAPTURE(level);
    Pair pair;
    REQUIRE(send(pair, "abc", 3, level) == 0);
    CHECK(is_told_at_once(pair));
    PairOptions options;
    options.op_flags = level;
    Pair by_default(options);
    REQUIRE(fi_tsend(by_default.ep[0], "abc", 3, nullptr, by_default.address[1], 1, nullptr) == 0);
    CHECK(is_told_at_once(by_default));
  }
}

TEST_CASE("the levels above wait for one") {
  for (const std::uint64_t level : kThatWait) {
    CAPTURE(level);
    Pair pair;
    REQUIRE(send(pair, "abc", 3, level) == 0);
    CHECK(!is_told_at_once(pair));
    CHECK(receive(pair) == "abc");
    CHECK(is_told_at_once(pair));
  }
}

TEST_CASE("an injected message keeps its level, and its buffer is the caller's at once") {
  for (const std::uint64_t level : kThatWait) {
    CAPTURE(level);
    Pair pair;
    char buffer[] = "abc";
    REQUIRE(send(pair, buffer, 3, level | FI_INJECT) == 0);
    std::memset(buffer, 'x', sizeof buffer);
    CHECK(!is_told_at_once(pair));
    CHECK(receive(pair) == "abc");
    CHECK(is_told_at_once(pair));
    const std::string too_long(kInjectBytesMin + 1, 'x');
    CHECK(send(pair, too_long.data(), too_long.size(), level | FI_INJECT) == -FI_EINVAL);
  }
  Pair pair;
  REQUIRE(send(pair, "abc", 3, FI_INJECT) == 0);
  CHECK(is_told_at_once(pair));
}
