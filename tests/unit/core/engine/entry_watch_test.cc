// SPDX-License-Identifier: BSD-3-Clause
// The biased lock reports the first application thread that enters after an agent that watches
// for it.
#include <doctest/doctest.h>

#include "core/engine/biased_lock.h"

using livebtl::core::BiasedLock;
using Caller = BiasedLock::Caller;

namespace {

struct Watch final : BiasedLock::EntryWatch {
  void on_entry() noexcept override {
    ++entries;
    if (lock != nullptr) held = !lock->try_lock(Caller::kAgent);
  }
  BiasedLock* lock = nullptr;
  int entries = 0;
  bool held = false;
};

}  // namespace

TEST_CASE("the first application thread to enter after an agent that watches is told of, once") {
  for (const bool tries : {false, true}) {
    CAPTURE(tries);
    Watch watch;
    BiasedLock lock(&watch);
    const auto enter = [&] {
      if (tries)
        REQUIRE(lock.try_lock());
      else
        lock.lock();
      lock.unlock();
    };
    enter();
    const bool biased = lock.biased();
    for (int round = 1; round <= 3; ++round) {
      lock.lock(Caller::kAgent);
      lock.watch_entry();
      lock.unlock();
      lock.lock(Caller::kAgent);  // an agent does not count as an application
      lock.unlock();
      CHECK(watch.entries == round - 1);
      enter();
      enter();
      CHECK(watch.entries == round);
      CHECK(lock.biased() == biased);
    }
  }
}

TEST_CASE("who is told of an entry is told under the lock") {
  Watch watch;
  BiasedLock lock(&watch);
  watch.lock = &lock;
  lock.lock(Caller::kAgent);
  lock.watch_entry();
  lock.unlock();
  lock.lock();
  lock.unlock();
  CHECK(watch.held);
}
