// SPDX-License-Identifier: BSD-3-Clause
// Sends and receives through libfabric's calls: what arrives, and which completions are reported.
#include <doctest/doctest.h>

#include <string>

#include "pair.h"

using namespace livebtl;
using namespace livebtl::fake;

namespace {

fi_context contexts[4];

std::string text_of(const char* bytes, std::size_t count) { return {bytes, count}; }

}  // namespace

TEST_CASE("a tagged message arrives with its tag, its length and the data sent beside it") {
  Pair pair;
  char buffer[16] = {};
  REQUIRE(fi_trecv(pair.ep[1], buffer, sizeof buffer, nullptr, FI_ADDR_UNSPEC, 0x10, 0x0f,
                   &contexts[1]) == 0);
  REQUIRE(fi_tsenddata(pair.ep[0], "hello", 5, nullptr, 77, pair.address[1], 0x13, &contexts[0]) ==
          0);
  fi_cq_tagged_entry entry;
  REQUIRE(pair.next(0, entry) == 1);
  CHECK(entry.op_context == &contexts[0]);
  CHECK(entry.flags == (FI_TAGGED | FI_SEND));
  REQUIRE(pair.next(1, entry) == 1);
  CHECK(entry.op_context == &contexts[1]);
  CHECK(entry.flags == (FI_TAGGED | FI_RECV | FI_REMOTE_CQ_DATA));
  CHECK(entry.len == 5);
  CHECK(entry.tag == 0x13);
  CHECK(entry.data == 77);
  CHECK(text_of(buffer, 5) == "hello");
  CHECK(pair.next(1, entry) == -FI_EAGAIN);
}

TEST_CASE("an injected message completes at the receiver only") {
  Pair pair;
  char buffer[8];
  fi_recv(pair.ep[1], buffer, sizeof buffer, nullptr, FI_ADDR_UNSPEC, &contexts[0]);
  REQUIRE(fi_inject(pair.ep[0], "abc", 3, pair.address[1]) == 0);
  fi_cq_tagged_entry entry;
  CHECK(pair.next(0, entry) == -FI_EAGAIN);
  REQUIRE(pair.next(1, entry) == 1);
  CHECK(entry.flags == (FI_MSG | FI_RECV));
  CHECK(entry.len == 3);
}

TEST_CASE("scattered buffers are sent and received piece by piece") {
  Pair pair;
  char left[2];
  char right[8];
  const iovec to[] = {{left, sizeof left}, {right, sizeof right}};
  const iovec from[] = {{const_cast<char*>("abc"), 3}, {nullptr, 0}, {const_cast<char*>("de"), 2}};
  REQUIRE(fi_trecvv(pair.ep[1], to, nullptr, 2, FI_ADDR_UNSPEC, 1, 0, nullptr) == 0);
  REQUIRE(fi_tsendv(pair.ep[0], from, nullptr, 3, pair.address[1], 1, nullptr) == 0);
  fi_cq_tagged_entry entry;
  REQUIRE(pair.next(1, entry) == 1);
  CHECK(text_of(left, 2) + text_of(right, 3) == "abcde");
  const iovec many[5] = {};
  CHECK(fi_tsendv(pair.ep[0], many, nullptr, 5, pair.address[1], 1, nullptr) == -FI_EINVAL);
}

TEST_CASE("selective completion tells only what asked to be told") {
  PairOptions options;
  options.bind_flags = FI_SELECTIVE_COMPLETION;
  Pair pair(options);
  fi_cq_tagged_entry entry;
  fi_tsend(pair.ep[0], "a", 1, nullptr, pair.address[1], 1, &contexts[0]);
  CHECK(pair.next(0, entry) == -FI_EAGAIN);
  fi_msg_tagged msg{};  // no buffer and no context, as Open MPI acknowledges a synchronous send
  msg.addr = pair.address[1];
  REQUIRE(fi_tsendmsg(pair.ep[0], &msg, 0) == 0);
  CHECK(pair.next(0, entry) == -FI_EAGAIN);
  msg.context = &contexts[1];
  REQUIRE(fi_tsendmsg(pair.ep[0], &msg, FI_COMPLETION) == 0);
  REQUIRE(pair.next(0, entry) == 1);
  CHECK(entry.op_context == &contexts[1]);
  REQUIRE(fi_tsendmsg(pair.ep[0], &msg, FI_COMPLETION | FI_INJECT) == 0);
  CHECK(pair.next(0, entry) == 1);
}

TEST_CASE("a message that is too long is an FI_ETRUNC entry that still holds tag and data") {
  Pair pair;
  char buffer[2];
  fi_trecv(pair.ep[1], buffer, sizeof buffer, nullptr, FI_ADDR_UNSPEC, 5, 0, &contexts[2]);
  fi_tinjectdata(pair.ep[0], "long", 4, 9, pair.address[1], 5);
  fi_cq_tagged_entry entry;
  REQUIRE(pair.next(1, entry) == -FI_EAVAIL);
  fi_cq_err_entry error{};
  REQUIRE(fi_cq_readerr(pair.cq[1], &error, 0) == 1);
  CHECK(error.err == FI_ETRUNC);
  CHECK(error.op_context == &contexts[2]);
  CHECK(error.len == 2);
  CHECK(error.olen == 2);
  CHECK(error.data == 9);
  CHECK(error.tag == 5);
  CHECK(fi_cq_readerr(pair.cq[1], &error, 0) == -FI_EAGAIN);
}

TEST_CASE("a cancelled receive is an FI_ECANCELED entry, an unknown one is no error") {
  Pair pair;
  char buffer[2];
  fi_trecv(pair.ep[1], buffer, sizeof buffer, nullptr, FI_ADDR_UNSPEC, 5, 0, &contexts[2]);
  CHECK(fi_cancel(&pair.ep[1]->fid, &contexts[3]) == 0);
  REQUIRE(fi_cancel(&pair.ep[1]->fid, &contexts[2]) == 0);
  fi_cq_tagged_entry entry;
  REQUIRE(pair.next(1, entry) == -FI_EAVAIL);
  fi_cq_err_entry error{};
  REQUIRE(fi_cq_readerr(pair.cq[1], &error, 0) == 1);
  CHECK(error.err == FI_ECANCELED);
  CHECK(error.op_context == &contexts[2]);
}

TEST_CASE("the source of a receive matters only to programs that asked for directed receive") {
  char buffer[2];
  fi_cq_tagged_entry entry;
  SUBCASE("not asked") {
    Pair pair;
    fi_trecv(pair.ep[1], buffer, 2, nullptr, pair.address[1], 1, 0, nullptr);
    fi_tinject(pair.ep[0], "x", 1, pair.address[1], 1);
    CHECK(pair.next(1, entry) == 1);
  }
  SUBCASE("asked") {
    PairOptions options;
    options.caps = FI_TAGGED | FI_DIRECTED_RECV;
    Pair pair(options);
    fi_trecv(pair.ep[1], buffer, 2, nullptr, pair.address[1], 1, 0, &contexts[0]);
    fi_trecv(pair.ep[1], buffer, 2, nullptr, pair.address[0], 1, 0, &contexts[1]);
    fi_tinject(pair.ep[0], "x", 1, pair.address[1], 1);
    REQUIRE(pair.next(1, entry) == 1);
    CHECK(entry.op_context == &contexts[1]);
  }
}

TEST_CASE("peek answers at once, claim sets aside, discard throws away") {
  Pair pair;
  fi_cq_tagged_entry entry;
  fi_cq_err_entry error{};
  fi_msg_tagged msg{};
  msg.addr = FI_ADDR_UNSPEC;
  msg.tag = 3;
  msg.context = &contexts[0];
  REQUIRE(fi_trecvmsg(pair.ep[1], &msg, FI_PEEK | FI_COMPLETION) == 0);
  REQUIRE(pair.next(1, entry) == -FI_EAVAIL);
  REQUIRE(fi_cq_readerr(pair.cq[1], &error, 0) == 1);
  CHECK(error.err == FI_ENOMSG);
  CHECK(error.op_context == &contexts[0]);

  fi_tinject(pair.ep[0], "first", 5, pair.address[1], 3);
  fi_tinject(pair.ep[0], "second", 6, pair.address[1], 3);
  REQUIRE(fi_trecvmsg(pair.ep[1], &msg, FI_PEEK | FI_COMPLETION) == 0);
  REQUIRE(pair.next(1, entry) == 1);
  CHECK(entry.len == 5);
  CHECK(entry.tag == 3);

  REQUIRE(fi_trecvmsg(pair.ep[1], &msg, FI_PEEK | FI_CLAIM | FI_COMPLETION) == 0);
  REQUIRE(pair.next(1, entry) == 1);
  fi_msg_tagged other = msg;
  other.context = &contexts[1];
  REQUIRE(fi_trecvmsg(pair.ep[1], &other, FI_PEEK | FI_DISCARD | FI_COMPLETION) == 0);
  REQUIRE(pair.next(1, entry) == 1);
  CHECK(entry.len == 6);
  REQUIRE(fi_trecvmsg(pair.ep[1], &other, FI_PEEK | FI_COMPLETION) == 0);
  REQUIRE(pair.next(1, entry) == -FI_EAVAIL);  // none is left
  REQUIRE(fi_cq_readerr(pair.cq[1], &error, 0) == 1);
  CHECK(error.err == FI_ENOMSG);

  char buffer[8];
  const iovec piece = {buffer, sizeof buffer};
  msg.msg_iov = &piece;
  msg.iov_count = 1;
  REQUIRE(fi_trecvmsg(pair.ep[1], &msg, FI_CLAIM | FI_COMPLETION) == 0);
  REQUIRE(pair.next(1, entry) == 1);
  CHECK(text_of(buffer, entry.len) == "first");
  CHECK(fi_trecvmsg(pair.ep[1], &msg, FI_CLAIM | FI_COMPLETION) == -FI_EINVAL);
}

TEST_CASE("a busy engine is -FI_EAGAIN and takes nothing") {
  Pair pair;
  engine().busy = true;
  char buffer[2];
  CHECK(fi_tsend(pair.ep[0], "a", 1, nullptr, pair.address[1], 1, nullptr) == -FI_EAGAIN);
  CHECK(fi_tinject(pair.ep[0], "a", 1, pair.address[1], 1) == -FI_EAGAIN);
  CHECK(fi_trecv(pair.ep[1], buffer, 2, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr) == -FI_EAGAIN);
  engine().busy = false;
  fi_cq_tagged_entry entry;
  CHECK(pair.next(0, entry) == -FI_EAGAIN);
  CHECK(fi_tinject(pair.ep[0], "a", 1, FI_ADDR_UNSPEC, 1) == -FI_EINVAL);
}

TEST_CASE("sends whose completions are never read end in -FI_EAGAIN, and reading makes room") {
  Pair pair;
  std::size_t sent = 0;
  while (fi_tsend(pair.ep[0], nullptr, 0, nullptr, pair.address[1], 1, nullptr) == 0) ++sent;
  CHECK(sent == pair.info->tx_attr->size);
  fi_cq_tagged_entry entries[16];
  REQUIRE(fi_cq_read(pair.cq[0], entries, 16) == 16);
  CHECK(fi_tsend(pair.ep[0], nullptr, 0, nullptr, pair.address[1], 1, nullptr) == 0);
}

TEST_CASE("sends that nobody is told of do not use up the room") {
  PairOptions options;
  options.bind_flags = FI_SELECTIVE_COMPLETION;
  Pair pair(options);
  const std::size_t many = pair.info->tx_attr->size * 2;
  std::size_t sent = 0;
  while (sent < many &&
         fi_tsend(pair.ep[0], nullptr, 0, nullptr, pair.address[1], 1, nullptr) == 0) {
    ++sent;
  }
  CHECK(sent == many);
}
