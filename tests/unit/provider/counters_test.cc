// SPDX-License-Identifier: BSD-3-Clause
// Counters: what they count, and who may sleep on one.
#include <doctest/doctest.h>

#include "pair.h"

using namespace livebtl;
using namespace livebtl::fake;

namespace {

/// A counter with a descriptor to sleep on.
struct Sleeper {
  Sleeper() {
    fi_cntr_attr attr{};
    attr.wait_obj = FI_WAIT_FD;
    REQUIRE(fi_cntr_open(pair.domain, &attr, &counter, nullptr) == 0);
  }
  ~Sleeper() { CHECK(fi_close(&counter->fid) == 0); }
  int may_sleep() const {
    fid* sleeps_on = &counter->fid;
    return fi_trywait(pair.fabric, &sleeps_on, 1);
  }
  Pair pair;
  fid_cntr* counter = nullptr;
};

}  // namespace

TEST_CASE("counters count sends, injects and receives, and wait for a threshold") {
  Pair pair;
  fid_cntr* counter = nullptr;
  fi_cntr_attr attr{};
  REQUIRE(fi_cntr_open(pair.domain, &attr, &counter, nullptr) == 0);
  fid_ep* third = nullptr;
  REQUIRE(fi_endpoint(pair.domain, pair.info.get(), &third, nullptr) == 0);
  REQUIRE(fi_ep_bind(third, &pair.av->fid, 0) == 0);
  REQUIRE(fi_ep_bind(third, &counter->fid, FI_SEND | FI_RECV) == 0);
  REQUIRE(fi_enable(third) == 0);
  fi_tinject(third, "x", 1, pair.address[1], 1);
  fi_tsend(third, "x", 1, nullptr, pair.address[1], 1, nullptr);
  CHECK(fi_cntr_read(counter) == 2);
  CHECK(fi_cntr_wait(counter, 2, -1) == 0);
  CHECK(fi_cntr_wait(counter, 3, 1) == -FI_ETIMEDOUT);
  fi_cntr_add(counter, 5);
  CHECK(fi_cntr_read(counter) == 7);
  fi_cntr_set(counter, 0);
  CHECK(fi_cntr_read(counter) == 0);
  CHECK(fi_close(&counter->fid) == -FI_EBUSY);
  fi_close(&third->fid);
  CHECK(fi_close(&counter->fid) == 0);
}

TEST_CASE("nobody goes to sleep on a counter whose errors were not read") {
  const Sleeper sleeper;
  fid_cntr* const counter = sleeper.counter;
  CHECK(sleeper.may_sleep() == 0);
  fi_cntr_adderr(counter, 1);
  CHECK(sleeper.may_sleep() == -FI_EAGAIN);
  CHECK(fi_cntr_readerr(counter) == 1);
  CHECK(sleeper.may_sleep() == 0);
}

TEST_CASE("nobody goes to sleep on a counter that came back to what was read before") {
  const Sleeper sleeper;
  fid_cntr* const counter = sleeper.counter;
  fi_cntr_add(counter, 1);
  REQUIRE(fi_cntr_read(counter) == 1);
  SUBCASE("it was set to 0, and counts again") {
    fi_cntr_set(counter, 0);
    fi_cntr_add(counter, 1);
  }
  SUBCASE("as a semaphore") {
    fi_cntr_add(counter, std::uint64_t{0} - 1);
    fi_cntr_add(counter, 1);
  }
  CHECK(sleeper.may_sleep() == -FI_EAGAIN);
  CHECK(fi_cntr_read(counter) == 1);
  CHECK(sleeper.may_sleep() == 0);
}
