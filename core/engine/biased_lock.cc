// SPDX-License-Identifier: BSD-3-Clause
// core/engine/biased_lock.cc -- everything but the owner's fast path: the mutex, revocation,
// sleeping, fork. Any thread.
//
// A holder that is not the owner has the mutex *and* has made sure that the owner is outside and
// stays there: wanted_ is set first, then membarrier, then inside_ is read. An owner that finds
// wanted_ set uses the mutex like the others. An agent that watches for the next entry leaves
// wanted_ set: the owner is then still kept out when an agent comes again, which needs no barrier.
#include "core/engine/biased_lock.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <memory>
#include <vector>

#include "base/assert.h"

#if defined(__SANITIZE_THREAD__)
#define LIVEBTL_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LIVEBTL_THREAD_SANITIZER 1
#endif
#endif
#ifndef LIVEBTL_THREAD_SANITIZER
#define LIVEBTL_THREAD_SANITIZER 0
#endif

namespace livebtl::core {

// All locks of the process, so that the child of a fork can reset them before anything else runs in
// it.
struct ForkHandlers {
  std::mutex mutex;
  std::vector<BiasedLock*> locks;

  // Never destroyed: a fork may come during static destruction.
  static ForkHandlers& instance() {
    static ForkHandlers* const kept = [] {
      auto* made = new ForkHandlers;
      const int error =
          ::pthread_atfork([] { instance().mutex.lock(); }, [] { instance().mutex.unlock(); },
                           [] { instance().in_child(); });
      LIVEBTL_ASSERT(error == 0, "there is memory for fork handlers at start");
      return made;
    }();
    return *kept;
  }
  void in_child() noexcept {
    for (BiasedLock* lock : locks) {
      lock->in_child_ = true;
      lock->start_anew();
    }
    mutex.unlock();
  }
};

namespace {

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t while_equal) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, while_equal, nullptr, nullptr, 0);
}
// A full barrier before it looks for sleepers: a thread that is about to sleep sees a store made
// just before.
void futex_wake_all(std::atomic<std::uint32_t>& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

bool ask_for_barrier() noexcept {
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

bool register_for_barriers() noexcept {
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

// On return, every thread of this process has run a full barrier since the call. A process that
// CRIU has restored is new to the kernel, which does not know its registration (EPERM).
bool membarrier() noexcept {
  if (ask_for_barrier()) return true;
  return errno == EPERM && register_for_barriers() && ask_for_barrier();
}

bool can_be_biased() noexcept {
  if (LIVEBTL_THREAD_SANITIZER != 0) return false;  // TSan does not know membarrier
  return register_for_barriers() && ask_for_barrier();
}

}  // namespace

BiasedLock::BiasedLock(EntryWatch* watch) : watch_(watch) {
  start_anew();
  ForkHandlers& handlers = ForkHandlers::instance();
  const std::lock_guard hold(handlers.mutex);
  handlers.locks.push_back(this);
}

BiasedLock::~BiasedLock() {
  ForkHandlers& handlers = ForkHandlers::instance();
  const std::lock_guard hold(handlers.mutex);
  std::erase(handlers.locks, this);
}

// In one thread only: at construction, or in a forked child, where the mutex may be held by a
// thread that does not exist there.
void BiasedLock::start_anew() noexcept {
  owner_.store(0, std::memory_order_relaxed);
  inside_.store(0, std::memory_order_relaxed);
  wanted_.store(can_be_biased() ? 0 : kRevoked, std::memory_order_relaxed);
  holder_ = Holder::kOwner;
  applications_waiting_.store(0, std::memory_order_relaxed);
  application_first_.store(0, std::memory_order_relaxed);
  std::construct_at(&mutex_);
}

void BiasedLock::step_back() noexcept {
  inside_.store(0, std::memory_order_release);
  wake_those_outside();
}

void BiasedLock::wake_those_outside() noexcept { futex_wake_all(inside_); }

void BiasedLock::lock_slowly(Caller caller) noexcept {
  bool kept_out = false;
  if (caller == Caller::kAgent) {
    wait_for_turn();
    kept_out = claim_for_agent();
  } else {
    applications_waiting_.fetch_add(1);
    wait_for_agents();
  }
  mutex_.lock();
  if (!keep_owner_out(caller, kept_out)) {
    while (inside_.load(std::memory_order_acquire) != 0) futex_wait(inside_, 1);
  }
  if (caller == Caller::kApplication) {
    applications_waiting_.fetch_sub(1);
    if (application_first_.exchange(0) != 0) futex_wake_all(application_first_);
  }
  entered(caller);
}

// Requires: the caller holds the lock.
void BiasedLock::entered(Caller caller) noexcept {
  holder_ = caller == Caller::kAgent ? Holder::kAgent : Holder::kApplication;
  if (caller == Caller::kAgent || (wanted_.load(std::memory_order_relaxed) & kWatched) == 0) return;
  wanted_.fetch_and(~kWatched);
  if (watch_ != nullptr) watch_->on_entry();
}

bool BiasedLock::try_lock_slowly(Caller caller) noexcept {
  const bool agent = caller == Caller::kAgent;
  if (agent && application_first_.load() != 0) return false;
  if (!agent && (wanted_.load() & kAgentsMask) != 0) return false;
  const bool kept_out = agent && claim_for_agent();
  const bool got_mutex = mutex_.try_lock();
  if (got_mutex && keep_owner_out(caller, kept_out)) {
    entered(caller);
    return true;
  }
  if (got_mutex) mutex_.unlock();
  if (agent) give_up_agent_claim();
  return false;
}

// true: the owner is already kept out. The agent that began to watch made sure of it, and wanted_
// has not been 0 since: the watch ends only when somebody enters by the mutex, and this claim
// stands from here on.
bool BiasedLock::claim_for_agent() noexcept { return (wanted_.fetch_add(1) & kWatched) != 0; }

// Requires: the mutex is held, and an agent has raised wanted_ (kept_out: what claim_for_agent()
// said). From here on the owner cannot enter; true: it is out now. Makes the first application
// thread the owner, and ends ownership when a second one comes.
bool BiasedLock::keep_owner_out(Caller caller, bool kept_out) noexcept {
  const std::uintptr_t owner = owner_.load(std::memory_order_relaxed);
  const bool revoked = (wanted_.load(std::memory_order_relaxed) & kRevoked) != 0;
  if (caller == Caller::kApplication && !revoked) {
    if (owner == 0) owner_.store(this_thread(), std::memory_order_relaxed);
    if (owner == 0 || owner == this_thread()) return true;
    wanted_.fetch_or(kRevoked);
    owner_.store(0, std::memory_order_relaxed);
  }
  const bool elsewhere = owner != 0 && owner != this_thread();
  if (elsewhere && !kept_out)
    LIVEBTL_ASSERT(membarrier(), "membarrier(2) works as it did at the start");
  return inside_.load(std::memory_order_acquire) == 0;
}

void BiasedLock::unlock_slowly() noexcept {
  const bool agent = holder_ == Holder::kAgent;
  // Under the mutex: a thread that waits now will get it, see this and clear it.
  if (agent && applications_waiting_.load() != 0) application_first_.store(1);
  holder_ = Holder::kOwner;
  mutex_.unlock();
  if (agent) give_up_agent_claim();
}

void BiasedLock::give_up_agent_claim() noexcept {
  wanted_.fetch_sub(1);
  if (applications_waiting_.load() != 0) futex_wake_all(wanted_);
}

void BiasedLock::wait_for_agents() noexcept {
  for (;;) {
    const std::uint32_t wanted = wanted_.load();
    if ((wanted & kAgentsMask) == 0) return;
    futex_wait(wanted_, wanted);
  }
}

void BiasedLock::wait_for_turn() noexcept {
  while (application_first_.load() != 0) futex_wait(application_first_, 1);
}

}  // namespace livebtl::core
