// SPDX-License-Identifier: BSD-3-Clause
// How readers wait: poll sets and wait sets, and a reader that polls in vain on a busy processor.
#include <doctest/doctest.h>
#include <sched.h>

#include <atomic>
#include <thread>

#include "pair.h"

// Wait sets and poll sets are deprecated in libfabric 2; older programs use them.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

using namespace livebtl;
using namespace livebtl::fake;

namespace {

/// Makes this thread share one processor with another that only spins.
class Crowded {
 public:
  Crowded() {
    REQUIRE(::sched_getaffinity(0, sizeof before_, &before_) == 0);
    int first = 0;
    while (!CPU_ISSET(first, &before_)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
    other_ = std::thread([this] {
      while (!done_.load()) {
      }
    });
  }
  ~Crowded() {
    done_.store(true);
    other_.join();
    CHECK(::sched_setaffinity(0, sizeof before_, &before_) == 0);
  }
  Crowded(const Crowded&) = delete;
  Crowded& operator=(const Crowded&) = delete;

 private:
  cpu_set_t before_;
  std::atomic<bool> done_{false};
  std::thread other_;
};

}  // namespace

TEST_CASE(
    "a reader in vain sleeps if others want its processor, and looks on if it finds something") {
  Pair pair;
  const Crowded crowded;
  fi_cq_tagged_entry entry;
  const std::uint64_t waits_before = engine().waits;
  while (engine().waits == waits_before) fi_cq_read(pair.cq[0], &entry, 1);
  const std::uint64_t waits = engine().waits;
  char buffer[4];
  for (int i = 0; i < 100; ++i) {
    fi_trecv(pair.ep[0], buffer, 4, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr);
    fi_tinject(pair.ep[1], "x", 1, pair.address[0], 1);
    while (fi_cq_read(pair.cq[0], &entry, 1) == -FI_EAGAIN) {
    }
  }
  CHECK(engine().waits == waits);
}

TEST_CASE("a poll set names the queue that has something; a wait set wakes for it") {
  Pair pair;
  fid_wait* set = nullptr;
  fi_wait_attr wait_attr{};
  wait_attr.wait_obj = FI_WAIT_UNSPEC;
  REQUIRE(fi_wait_open(pair.fabric, &wait_attr, &set) == 0);
  fi_cq_attr cq_attr{};
  cq_attr.wait_obj = FI_WAIT_SET;
  cq_attr.wait_set = set;
  fid_cq* queue = nullptr;
  int name = 0;
  REQUIRE(fi_cq_open(pair.domain, &cq_attr, &queue, &name) == 0);
  fid_ep* third = nullptr;
  REQUIRE(fi_endpoint(pair.domain, pair.info.get(), &third, nullptr) == 0);
  REQUIRE(fi_ep_bind(third, &pair.av->fid, 0) == 0);
  REQUIRE(fi_ep_bind(third, &queue->fid, FI_TRANSMIT | FI_RECV) == 0);
  REQUIRE(fi_enable(third) == 0);
  fid_poll* poll_set = nullptr;
  REQUIRE(fi_poll_open(pair.domain, nullptr, &poll_set) == 0);
  REQUIRE(fi_poll_add(poll_set, &queue->fid, 0) == 0);
  void* found = nullptr;
  CHECK(fi_poll(poll_set, &found, 1) == 0);
  CHECK(fi_wait(set, 1) == -FI_ETIMEDOUT);
  fi_tsend(third, "x", 1, nullptr, pair.address[1], 1, nullptr);
  CHECK(fi_wait(set, -1) == 0);
  REQUIRE(fi_poll(poll_set, &found, 1) == 1);
  CHECK(found == &name);
  fi_close(&third->fid);
  CHECK(fi_close(&queue->fid) == -FI_EBUSY);  // the poll set refers to it
  REQUIRE(fi_poll_del(poll_set, &queue->fid, 0) == 0);
  REQUIRE(fi_poll_add(poll_set, &queue->fid, 0) == 0);
  CHECK(fi_close(&poll_set->fid) == 0);  // it releases its members
  CHECK(fi_close(&set->fid) == -FI_EBUSY);
  fi_close(&queue->fid);
  CHECK(fi_close(&set->fid) == 0);
}
