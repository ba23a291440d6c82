// SPDX-License-Identifier: BSD-3-Clause
// core/engine/biased_lock.h -- the engine's lock, biased to one application thread.
//
// The owner (the first application thread that enters) locks with a thread-id compare, a plain
// store and a plain load: no atomic read-modify-write, no fence. Anyone else takes the slow mutex,
// sets `wanted_`, runs membarrier(2) (so that the owner's store is visible or the owner sees
// `wanted_`), and sleeps until the owner is out; an owner that sees `wanted_` gives way until the
// other is done. A second application thread makes it an ordinary mutex for good; so do builds with
// ThreadSanitizer and kernels that refuse membarrier.
//
// An agent that leaves may ask to be told of the next application thread that enters. That thread
// takes the slow path once; entries that are not watched pay nothing for it.
//
// Threads:   any. No recursion; a holder must not block.
// Fairness:  the agent goes before application threads that have not got the mutex yet, and between
//            two turns of the agent one application thread that waits gets its turn. Among
//            application threads: as the mutex has it.
// Fork:      the child finds the lock free and new, whichever thread held it. What it guards is as
//            the fork found it.
// Model:     tests/model/biased_lock.pml (TSO store buffers; without the membarrier, Spin finds the
//            violation).
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace livebtl::core {

class BiasedLock {
 public:
  /// The agent never becomes the owner.
  enum class Caller : std::uint8_t { kApplication, kAgent };

  class EntryWatch {
   public:
    /// The first application thread since watch_entry() has entered. It holds the lock.
    virtual void on_entry() noexcept = 0;

   protected:
    ~EntryWatch() = default;
  };

  /// watch: null, or it outlives the lock.
  explicit BiasedLock(EntryWatch* watch = nullptr);
  ~BiasedLock();
  BiasedLock(const BiasedLock&) = delete;
  BiasedLock& operator=(const BiasedLock&) = delete;

  void lock(Caller caller = Caller::kApplication) noexcept {
    if (!lock_as_owner(caller)) lock_slowly(caller);
  }
  /// Never sleeps. false: somebody holds the lock, or has precedence.
  bool try_lock(Caller caller = Caller::kApplication) noexcept {
    return lock_as_owner(caller) || try_lock_slowly(caller);
  }
  /// By the thread that locked it.
  void unlock() noexcept {
    if (holder_ != Holder::kOwner) [[unlikely]] {
      unlock_slowly();
      return;
    }
    inside_.store(0, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (wanted_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      wake_those_outside();
  }

  /// By an agent that holds the lock: the next entry calls the EntryWatch.
  void watch_entry() noexcept { wanted_.fetch_or(kWatched); }

  /// This process was forked from the one that made the lock. What the lock guards, and other
  /// processes share, still belongs to that one.
  bool in_child() const noexcept { return in_child_; }
  /// True while a thread owns it (for tests and status).
  bool biased() const noexcept { return owner_.load(std::memory_order_relaxed) != 0; }
  /// Does anybody wait? The holder asks between pieces of work and gives way.
  bool contended() const noexcept {
    const std::uint32_t agents = wanted_.load(std::memory_order_relaxed) & kAgentsMask;
    return applications_waiting_.load(std::memory_order_relaxed) != 0 ||
           agents > (holder_ == Holder::kAgent ? 1u : 0u);
  }

 private:
  friend struct ForkHandlers;

  // How the current holder got in; kOwner also when there is none. Guarded by the lock itself.
  enum class Holder : std::uint8_t { kOwner, kApplication, kAgent };

  // In wanted_: set once, when there is to be no owner any more. The low bits count agents that
  // wait or hold.
  static constexpr std::uint32_t kRevoked = 1u << 31;
  // In wanted_: the next application thread that enters clears it, and notifies watch_.
  static constexpr std::uint32_t kWatched = 1u << 30;
  static constexpr std::uint32_t kAgentsMask = kWatched - 1;

  static std::uintptr_t this_thread() noexcept {
    return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  }

  // The compiler must keep store and load in this order; the processor need not: the thread that
  // sets wanted_ makes it do so with membarrier. Acquire pairs with the release of the last holder
  // that lowered wanted_.
  bool lock_as_owner(Caller caller) noexcept {
    if (owner_.load(std::memory_order_relaxed) != this_thread() || caller != Caller::kApplication)
        [[unlikely]]
      return false;
    inside_.store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (wanted_.load(std::memory_order_acquire) == 0) [[likely]]
      return true;
    step_back();
    return false;
  }

  void step_back() noexcept;
  void lock_slowly(Caller caller) noexcept;
  bool try_lock_slowly(Caller caller) noexcept;
  void unlock_slowly() noexcept;
  void wake_those_outside() noexcept;
  void wait_for_agents() noexcept;
  void wait_for_turn() noexcept;
  bool claim_for_agent() noexcept;
  bool keep_owner_out(Caller caller, bool kept_out) noexcept;
  void entered(Caller caller) noexcept;
  void give_up_agent_claim() noexcept;
  void start_anew() noexcept;

  // The owner's line: what the fast path touches.
  std::atomic<std::uintptr_t> owner_{0};  // 0: nobody yet, or nobody any more
  std::atomic<std::uint32_t> inside_{0};  // 1: the owner is in, without the mutex. Set by the owner
  std::atomic<std::uint32_t> wanted_{0};
  Holder holder_ = Holder::kOwner;
  // Application threads on the slow path that have not got the mutex.
  std::atomic<std::uint32_t> applications_waiting_{0};
  std::atomic<std::uint32_t> application_first_{0};  // 1: one goes before the agent's next turn
  std::mutex mutex_;
  bool in_child_ = false;
  EntryWatch* const watch_;
};

}  // namespace livebtl::core
