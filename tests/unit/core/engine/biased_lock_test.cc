// SPDX-License-Identifier: BSD-3-Clause
// The biased lock with real threads and real membarrier: exclusion, bias and its end, turns, fork.
#include "core/engine/biased_lock.h"

#include <doctest/doctest.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>
#include <vector>

using livebtl::core::BiasedLock;
using Caller = BiasedLock::Caller;

namespace {

// Where the lock cannot be biased by design: the tests then run on the ordinary mutex.
bool bias_expected() {
#if defined(__SANITIZE_THREAD__)
  return false;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
  return false;
#endif
#endif
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

// Two plain numbers that are equal whenever nobody is inside; whoever sees them differ was not
// alone.
struct Guarded {
  std::uint64_t one = 0;
  std::uint64_t other = 0;
  std::uint64_t met = 0;

  void visit() noexcept {
    if (one != other) ++met;
    ++one;
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the compiler must not merge the two
    ++other;
  }
};

void visit_often(BiasedLock& lock, Guarded& guarded, Caller caller, int times) {
  for (int i = 0; i < times; ++i) {
    lock.lock(caller);
    guarded.visit();
    lock.unlock();
  }
}

// Starts threads at the same moment, so that even short loops overlap.
class StartLine {
 public:
  explicit StartLine(int runners) : missing_(runners) {}
  void wait() noexcept {
    --missing_;
    while (missing_ > 0) std::this_thread::yield();
  }

 private:
  std::atomic<int> missing_;
};

// Runs `code` in its own thread and waits for it.
template <class Code>
void elsewhere(Code&& code) {
  std::thread(code).join();
}

}  // namespace

TEST_CASE("the first application thread becomes the owner, the agent never") {
  BiasedLock lock;
  elsewhere([&] {
    lock.lock(Caller::kAgent);
    lock.unlock();
  });
  CHECK_FALSE(lock.biased());
  lock.lock();
  lock.unlock();
  CHECK(lock.biased() == bias_expected());
  elsewhere([&] {
    lock.lock(Caller::kAgent);
    lock.unlock();
  });
  CHECK(lock.biased() == bias_expected());
}

TEST_CASE("a second application thread ends the bias for good") {
  BiasedLock lock;
  Guarded guarded;
  visit_often(lock, guarded, Caller::kApplication, 3);
  elsewhere([&] {
    lock.lock();
    lock.unlock();
  });
  CHECK_FALSE(lock.biased());
  lock.lock();
  lock.unlock();
  CHECK_FALSE(lock.biased());
}

TEST_CASE(
    "try_lock gets a free lock and never one that is held, whoever asks and however it is held") {
  for (const Caller holder : {Caller::kApplication, Caller::kAgent}) {
    for (const Caller asking : {Caller::kApplication, Caller::kAgent}) {
      for (const bool owner_before : {false, true}) {
        BiasedLock lock;
        if (owner_before) {
          lock.lock();
          lock.unlock();
        }
        lock.lock(holder);
        bool got = true;
        elsewhere([&] { got = lock.try_lock(asking); });
        CHECK_FALSE(got);
        lock.unlock();
        elsewhere([&] {
          got = lock.try_lock(asking);
          if (got) lock.unlock();
        });
        CHECK(got);
        CHECK(lock.try_lock());
        lock.unlock();
      }
    }
  }
}

TEST_CASE("the holder learns that somebody waits, and no longer after") {
  for (const Caller waiter : {Caller::kApplication, Caller::kAgent}) {
    BiasedLock lock;
    lock.lock();
    lock.unlock();
    lock.lock();
    CHECK_FALSE(lock.contended());
    std::thread other([&] {
      lock.lock(waiter);
      lock.unlock();
    });
    while (!lock.contended()) std::this_thread::yield();
    lock.unlock();
    other.join();
    lock.lock();
    CHECK_FALSE(lock.contended());
    lock.unlock();
  }
}

TEST_CASE("the agent that holds sees a waiting owner, and not itself") {
  BiasedLock lock;
  lock.lock();
  lock.unlock();
  std::atomic<bool> agent_in = false;
  std::thread agent([&] {
    lock.lock(Caller::kAgent);
    CHECK_FALSE(lock.contended());
    agent_in = true;
    while (!lock.contended()) std::this_thread::yield();
    lock.unlock();
  });
  while (!agent_in) std::this_thread::yield();
  lock.lock();
  lock.unlock();
  agent.join();
}

TEST_CASE("stress: owner and agent never meet, and none is starved") {
  BiasedLock lock;
  Guarded guarded;
  // Each runs until both have had many turns: if one starved, the test would never end.
  constexpr std::uint64_t kTurns = 20'000;
  std::atomic<std::uint64_t> agent_turns = 0;
  std::atomic<bool> owner_ready = false;
  std::thread agent([&] {
    while (!owner_ready) std::this_thread::yield();
    for (; agent_turns < kTurns; ++agent_turns) visit_often(lock, guarded, Caller::kAgent, 1);
  });
  std::uint64_t owner_turns = 0;
  visit_often(lock, guarded, Caller::kApplication, 1);
  owner_ready = true;
  while (owner_turns < kTurns || agent_turns < kTurns) {
    visit_often(lock, guarded, Caller::kApplication, 1);
    ++owner_turns;
  }
  agent.join();
  CHECK(guarded.met == 0);
  CHECK(guarded.one == owner_turns + agent_turns + 1);
  CHECK(lock.biased() == bias_expected());
}

TEST_CASE("stress: an agent that only tries never meets the owner on its fast path") {
  // No sleeps in between: this is the loop that exposes a missing membarrier.
  BiasedLock lock;
  Guarded guarded;
  StartLine start(2);
  std::atomic<bool> stop = false;
  std::uint64_t agent_turns = 0;
  std::uint64_t owner_turns = 1;
  visit_often(lock, guarded, Caller::kApplication, 1);
  std::thread agent([&] {
    start.wait();
    while (agent_turns < 100'000) {
      if (!lock.try_lock(Caller::kAgent)) {
        std::this_thread::yield();
        continue;
      }
      guarded.visit();
      lock.unlock();
      ++agent_turns;
    }
    stop = true;
  });
  start.wait();
  for (; !stop; ++owner_turns) visit_often(lock, guarded, Caller::kApplication, 1);
  agent.join();
  CHECK(guarded.met == 0);
  CHECK(guarded.one == agent_turns + owner_turns);
  CHECK(guarded.other == agent_turns + owner_turns);
}

TEST_CASE("stress: two application threads and the agent, from the first lock on") {
  constexpr int kRounds = 100;
  constexpr int kVisits = 5'000;
  std::uint64_t met = 0;
  for (int round = 0; round < kRounds; ++round) {
    BiasedLock lock;
    Guarded guarded;
    StartLine start(3);
    const auto runner = [&](Caller caller, int visits) {
      return std::thread([&, caller, visits] {
        start.wait();
        visit_often(lock, guarded, caller, visits);
      });
    };
    // The bias is set up and revoked at a different moment in each round.
    std::array<std::thread, 3> threads{runner(Caller::kApplication, kVisits),
                                       runner(Caller::kApplication, kVisits),
                                       runner(Caller::kAgent, kVisits / 50)};
    for (std::thread& thread : threads) thread.join();
    met += guarded.met;
    REQUIRE(guarded.one == 2 * kVisits + kVisits / 50);
    REQUIRE(guarded.one == guarded.other);
    REQUIRE_FALSE(lock.biased());
  }
  CHECK(met == 0);
}

TEST_CASE("stress: threads that only try") {
  BiasedLock lock;
  Guarded guarded;
  std::atomic<std::uint64_t> entered = 0;
  StartLine start(3);
  const auto try_often = [&](Caller caller, std::uint64_t wanted) {
    start.wait();
    for (std::uint64_t had = 0; had < wanted;) {
      if (!lock.try_lock(caller)) {
        std::this_thread::yield();
        continue;
      }
      guarded.visit();
      lock.unlock();
      ++had;
      ++entered;
    }
  };
  std::vector<std::thread> threads;
  threads.emplace_back(try_often, Caller::kApplication, 20'000);
  threads.emplace_back(try_often, Caller::kAgent, 5'000);
  threads.emplace_back([&] {
    start.wait();
    visit_often(lock, guarded, Caller::kApplication, 5'000);
  });
  for (std::thread& thread : threads) thread.join();
  CHECK(guarded.met == 0);
  CHECK(guarded.one == entered + 5'000);
}

namespace {
// The child takes the lock in every way; its exit code says that it got through.
int exit_code_of_child_using(BiasedLock& lock) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // if the lock cannot be taken, this kills the child; the test sees it
    lock.lock();
    lock.unlock();
    lock.lock(Caller::kAgent);
    lock.unlock();
    const bool got = lock.try_lock();
    ::_exit(got && !lock.contended() ? 42 : 1);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
}  // namespace

TEST_CASE("the child of a fork finds the lock usable although the parent's agent holds it") {
  BiasedLock lock;
  lock.lock();
  lock.unlock();
  std::atomic<bool> held = false, release = false;
  std::thread agent([&] {
    lock.lock(Caller::kAgent);
    held = true;
    while (!release) std::this_thread::yield();
    lock.unlock();
  });
  while (!held) std::this_thread::yield();
  CHECK(exit_code_of_child_using(lock) == 42);
  release = true;
  agent.join();
  lock.lock();  // the parent's lock is unchanged
  lock.unlock();
  CHECK(lock.biased() == bias_expected());
}

TEST_CASE("the child of a fork finds the lock usable although the forking thread holds it") {
  BiasedLock lock;
  lock.lock();
  lock.unlock();
  lock.lock();
  CHECK(exit_code_of_child_using(lock) == 42);
  lock.unlock();
}
