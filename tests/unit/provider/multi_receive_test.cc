// SPDX-License-Identifier: BSD-3-Clause
// FI_MULTI_RECV: one buffer that takes several messages, and which completion releases it.
#include <doctest/doctest.h>

#include <string>

#include "pair.h"

using namespace livebtl;
using namespace livebtl::fake;

namespace {

/// Posts a buffer of eight bytes, which is released when fewer than four are left.
struct PostedBuffer {
  PostedBuffer() {
    std::size_t least = 4;
    REQUIRE(fi_setopt(&pair.ep[1]->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least,
                      sizeof least) == 0);
    const iovec piece = {buffer, sizeof buffer};
    fi_msg msg{};
    msg.msg_iov = &piece;
    msg.iov_count = 1;
    msg.addr = FI_ADDR_UNSPEC;
    msg.context = &context;
    REQUIRE(fi_recvmsg(pair.ep[1], &msg, FI_MULTI_RECV) == 0);
  }
  void send(const char* two_bytes) { fi_inject(pair.ep[0], two_bytes, 2, pair.address[1]); }
  void expect_cancelled(bool given_back) {
    REQUIRE(pair.next(1, entry) == -FI_EAVAIL);
    fi_cq_err_entry error{};
    REQUIRE(fi_cq_readerr(pair.cq[1], &error, 0) == 1);
    CHECK(error.err == FI_ECANCELED);
    CHECK(error.op_context == &context);
    CHECK(((error.flags & FI_MULTI_RECV) != 0) == given_back);
  }
  Pair pair;
  fi_context context{};
  fi_cq_tagged_entry entry{};
  char buffer[8];
};

}  // namespace

TEST_CASE("a multi-receive buffer takes messages until too little is left, and says so") {
  PostedBuffer posted;
  for (int i = 0; i < 3; ++i) posted.send("xy");
  for (int i = 0; i < 3; ++i) {
    REQUIRE(posted.pair.next(1, posted.entry) == 1);
    CHECK(posted.entry.buf == posted.buffer + i * 2);
    CHECK(((posted.entry.flags & FI_MULTI_RECV) != 0) == (i == 2));
    CHECK(posted.entry.op_context == &posted.context);
  }
}

TEST_CASE("a default FI_MULTI_RECV makes no multi-receive of a tagged one") {
  Pair pair;
  std::uint64_t flags = FI_RECV | FI_MULTI_RECV;
  REQUIRE(fi_control(&pair.ep[1]->fid, FI_SETOPSFLAG, &flags) == 0);
  std::size_t least = 2;
  REQUIRE(fi_setopt(&pair.ep[1]->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least,
                    sizeof least) == 0);
  char tagged[8];
  char plain[4];
  REQUIRE(fi_trecv(pair.ep[1], tagged, sizeof tagged, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr) == 0);
  REQUIRE(fi_recv(pair.ep[1], plain, sizeof plain, nullptr, FI_ADDR_UNSPEC, nullptr) == 0);
  fi_cq_tagged_entry entry;
  for (int i = 0; i < 2; ++i) fi_tinject(pair.ep[0], "xy", 2, pair.address[1], 1);
  REQUIRE(pair.next(1, entry) == 1);
  CHECK(entry.flags == (FI_TAGGED | FI_RECV));
  CHECK(pair.next(1, entry) == -FI_EAGAIN);  // the second message has no receive
  for (int i = 0; i < 2; ++i) fi_inject(pair.ep[0], "ab", 2, pair.address[1]);
  REQUIRE(pair.next(1, entry) == 1);
  REQUIRE(pair.next(1, entry) == 1);
  CHECK(entry.flags == (FI_MSG | FI_RECV | FI_MULTI_RECV));
}

TEST_CASE("a message that ends badly does not give the buffer back, a cancel does") {
  PostedBuffer posted;
  engine().message_ends = Errc::kCancelled;
  posted.send("xy");
  posted.expect_cancelled(false);
  CHECK(posted.pair.next(1, posted.entry) == -FI_EAGAIN);
  engine().message_ends = Errc::kOk;
  posted.send("ab");
  REQUIRE(posted.pair.next(1, posted.entry) == 1);
  CHECK(std::string(static_cast<char*>(posted.entry.buf), posted.entry.len) == "ab");
  CHECK(fi_cancel(&posted.pair.ep[1]->fid, &posted.context) == 0);
  posted.expect_cancelled(true);
}
