// SPDX-License-Identifier: BSD-3-Clause
// Reads, writes, atomics and the regions they name, through libfabric's calls.
#include <doctest/doctest.h>

#include <string>

#include "pair.h"
#include "provider/old_names.h"

using namespace livebtl;
using namespace livebtl::fake;

namespace {

constexpr std::uint64_t kAccess = FI_REMOTE_READ | FI_REMOTE_WRITE;

struct Registered {
  Registered(Pair& pair, void* base, std::size_t bytes, std::uint64_t key) {
    error = fi_mr_reg(pair.domain, base, bytes, kAccess, 0, key, 0, &mr, nullptr);
  }
  ~Registered() {
    if (mr) fi_close(&mr->fid);
  }
  fid_mr* mr = nullptr;
  int error = 0;
};

}  // namespace

TEST_CASE("a region has the key that was asked for, once") {
  Pair pair;
  char memory[8];
  Registered first(pair, memory, sizeof memory, 42);
  REQUIRE(first.error == 0);
  CHECK(fi_mr_key(first.mr) == 42);
  CHECK(Registered(pair, memory, sizeof memory, 42).error == -FI_ENOKEY);
  fi_close(&first.mr->fid);
  first.mr = nullptr;
  CHECK(Registered(pair, memory, sizeof memory, 42).error == 0);
}

TEST_CASE("with basic registration the key is ours and the pointer is theirs") {
  PairOptions options;
  options.mr_mode = fi::kModeBasic;
  Pair pair(options);
  char memory[8] = "target";
  Registered one(pair, memory, sizeof memory, 7);
  Registered two(pair, memory, sizeof memory, 7);
  REQUIRE(two.error == 0);
  CHECK(fi_mr_key(one.mr) != fi_mr_key(two.mr));
  char got[3];
  REQUIRE(fi_read(pair.ep[0], got, 3, nullptr, pair.address[1],
                  reinterpret_cast<std::uintptr_t>(memory) + 3, fi_mr_key(two.mr), nullptr) == 0);
  fi_cq_tagged_entry entry;
  REQUIRE(pair.next(0, entry) == 1);
  CHECK(entry.flags == (FI_RMA | FI_READ));
  CHECK(std::string(got, 3) == "get");
}

TEST_CASE("writes arrive, injected ones from a copy, and those with data are told to the target") {
  Pair pair;
  char memory[8] = {};
  Registered region(pair, memory, sizeof memory, 1);
  fi_cq_tagged_entry entry;
  REQUIRE(fi_write(pair.ep[0], "ab", 2, nullptr, pair.address[1], 0, 1, nullptr) == 0);
  REQUIRE(pair.next(0, entry) == 1);
  CHECK(entry.flags == (FI_RMA | FI_WRITE));
  CHECK(pair.next(1, entry) == -FI_EAGAIN);
  REQUIRE(fi_inject_write(pair.ep[0], "cd", 2, pair.address[1], 2, 1) == 0);
  CHECK(pair.next(0, entry) == -FI_EAGAIN);
  REQUIRE(fi_writedata(pair.ep[0], "ef", 2, nullptr, 99, pair.address[1], 4, 1, nullptr) == 0);
  REQUIRE(pair.next(1, entry) == 1);
  CHECK(entry.flags == (FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA));
  CHECK(entry.data == 99);
  CHECK(std::string(memory, 6) == "abcdef");
}

TEST_CASE("a key that nobody has is an error entry of the initiator") {
  Pair pair;
  REQUIRE(fi_write(pair.ep[0], "ab", 2, nullptr, pair.address[1], 0, 55, nullptr) == 0);
  fi_cq_tagged_entry entry;
  REQUIRE(pair.next(0, entry) == -FI_EAVAIL);
  fi_cq_err_entry error{};
  REQUIRE(fi_cq_readerr(pair.cq[0], &error, 0) == 1);
  CHECK(error.err == FI_ENOKEY);
}

namespace {

/// Does everything that endpoint a can do to the one word that b registered under key 1.
void access_in_all_ways(Pair& pair) {
  std::uint64_t word = 0;
  const std::uint64_t one = 1;
  const fi_addr_t to = pair.address[1];
  fid_ep* const ep = pair.ep[0];
  CHECK(fi_write(ep, &one, 8, nullptr, to, 0, 1, nullptr) == 0);
  CHECK(fi_atomic(ep, &one, 1, nullptr, to, 0, 1, FI_UINT64, FI_SUM, nullptr) == 0);
  CHECK(fi_read(ep, &word, 8, nullptr, to, 0, 1, nullptr) == 0);
  CHECK(fi_fetch_atomic(ep, nullptr, 1, nullptr, &word, nullptr, to, 0, 1, FI_UINT64,
                        FI_ATOMIC_READ, nullptr) == 0);
  CHECK(fi_fetch_atomic(ep, &one, 1, nullptr, &word, nullptr, to, 0, 1, FI_UINT64, FI_SUM,
                        nullptr) == 0);
  CHECK(fi_compare_atomic(ep, &one, 1, nullptr, &one, nullptr, &word, nullptr, to, 0, 1, FI_UINT64,
                          FI_CSWAP, nullptr) == 0);
}

}  // namespace

TEST_CASE("reads, fetches and compares are remote reads; writes and base atomics remote writes") {
  PairOptions options;
  options.counts_remote = true;
  Pair pair(options);
  std::uint64_t memory = 0;
  Registered region(pair, &memory, sizeof memory, 1);
  access_in_all_ways(pair);
  CHECK(fi_cntr_read(pair.remote_reads) == 4);
  CHECK(fi_cntr_read(pair.remote_writes) == 2);
}

TEST_CASE("remote accesses are counted where atomics are all that was asked for") {
  PairOptions options;
  options.caps = FI_ATOMIC;
  options.counts_remote = true;
  Pair pair(options);
  std::uint64_t memory = 0;
  Registered region(pair, &memory, sizeof memory, 1);
  const std::uint64_t one = 1;
  REQUIRE(fi_atomic(pair.ep[0], &one, 1, nullptr, pair.address[1], 0, 1, FI_UINT64, FI_SUM,
                    nullptr) == 0);
  CHECK(fi_cntr_read(pair.remote_writes) == 1);
}

TEST_CASE("a region's counter counts what modifies it, and is bound for nothing else") {
  Pair pair;
  std::uint64_t memory = 0;
  Registered region(pair, &memory, sizeof memory, 1);
  fid_cntr* counter = nullptr;
  fi_cntr_attr attr{};
  REQUIRE(fi_cntr_open(pair.domain, &attr, &counter, nullptr) == 0);
  for (const std::uint64_t flags : {std::uint64_t{0}, std::uint64_t{FI_REMOTE_READ}, kAccess})
    CHECK(fi_mr_bind(region.mr, &counter->fid, flags) == -FI_EBADFLAGS);
  REQUIRE(fi_mr_bind(region.mr, &counter->fid, FI_REMOTE_WRITE) == 0);
  access_in_all_ways(pair);
  CHECK(fi_cntr_read(counter) == 4);
  fi_close(&region.mr->fid);
  region.mr = nullptr;
  CHECK(fi_close(&counter->fid) == 0);
}

TEST_CASE("a region's counter counts the writes to it and to no other") {
  Pair pair;
  char memory[8];
  Registered counted(pair, memory, sizeof memory, 1);
  Registered other(pair, memory, sizeof memory, 2);
  fid_cntr* counter = nullptr;
  fi_cntr_attr attr{};
  REQUIRE(fi_cntr_open(pair.domain, &attr, &counter, nullptr) == 0);
  REQUIRE(fi_mr_bind(counted.mr, &counter->fid, FI_REMOTE_WRITE) == 0);
  fi_write(pair.ep[0], "a", 1, nullptr, pair.address[1], 0, 1, nullptr);
  fi_write(pair.ep[0], "a", 1, nullptr, pair.address[1], 0, 2, nullptr);
  CHECK(fi_cntr_read(counter) == 1);
  fi_close(&counted.mr->fid);
  counted.mr = nullptr;
  CHECK(fi_close(&counter->fid) == 0);
}

TEST_CASE("atomics: add, fetch into pieces, compare and swap") {
  Pair pair;
  std::uint64_t memory[2] = {10, 20};
  Registered region(pair, memory, sizeof memory, 1);
  const std::uint64_t ones[2] = {1, 1};
  fi_cq_tagged_entry entry;
  REQUIRE(fi_atomic(pair.ep[0], ones, 2, nullptr, pair.address[1], 0, 1, FI_UINT64, FI_SUM,
                    nullptr) == 0);
  REQUIRE(pair.next(0, entry) == 1);
  CHECK(entry.flags == (FI_ATOMIC | FI_WRITE));
  CHECK(memory[1] == 21);

  std::uint64_t left = 0;
  std::uint64_t right = 0;
  const fi_ioc operands = {const_cast<std::uint64_t*>(ones), 2};
  fi_ioc results[] = {{&left, 1}, {&right, 1}};
  REQUIRE(fi_fetch_atomicv(pair.ep[0], &operands, nullptr, 1, results, nullptr, 2, pair.address[1],
                           0, 1, FI_UINT64, FI_SUM, nullptr) == 0);
  REQUIRE(pair.next(0, entry) == 1);
  CHECK(entry.flags == (FI_ATOMIC | FI_READ));
  CHECK(left == 11);
  CHECK(right == 21);

  const std::uint64_t wanted = 12;
  const std::uint64_t fresh = 50;
  REQUIRE(fi_compare_atomic(pair.ep[0], &fresh, 1, nullptr, &wanted, nullptr, &left, nullptr,
                            pair.address[1], 0, 1, FI_UINT64, FI_CSWAP, nullptr) == 0);
  REQUIRE(pair.next(0, entry) == 1);
  CHECK(left == 12);
  CHECK(memory[0] == 50);

  REQUIRE(fi_fetch_atomic(pair.ep[0], nullptr, 1, nullptr, &left, nullptr, pair.address[1], 8, 1,
                          FI_UINT64, FI_ATOMIC_READ, nullptr) == 0);
  CHECK(left == 22);
}

TEST_CASE("what atomics are offered is answered, and the rest refused") {
  Pair pair;
  std::size_t count = 0;
  CHECK(fi_atomicvalid(pair.ep[0], FI_UINT32, FI_SUM, &count) == 0);
  CHECK(count == kAtomicBytesMax / 4);
  CHECK(fi_atomicvalid(pair.ep[0], FI_UINT32, FI_ATOMIC_READ, &count) == -FI_EOPNOTSUPP);
  CHECK(fi_fetch_atomicvalid(pair.ep[0], FI_UINT32, FI_ATOMIC_READ, &count) == 0);
  CHECK(fi_compare_atomicvalid(pair.ep[0], FI_DOUBLE, FI_CSWAP, &count) == 0);
  CHECK(fi_compare_atomicvalid(pair.ep[0], FI_DOUBLE, FI_MSWAP, &count) == -FI_EOPNOTSUPP);
  CHECK(fi_atomicvalid(pair.ep[0], FI_DOUBLE_COMPLEX, FI_SUM, &count) == -FI_EOPNOTSUPP);
  fi_atomic_attr attr{};
  CHECK(fi_query_atomic(pair.domain, FI_INT16, FI_MAX, &attr, FI_FETCH_ATOMIC) == 0);
  CHECK(attr.size == 2);
  CHECK(fi_atomic(pair.ep[0], &count, 1, nullptr, pair.address[1], 0, 1, FI_LONG_DOUBLE, FI_SUM,
                  nullptr) == -FI_EOPNOTSUPP);
}
