// SPDX-License-Identifier: BSD-3-Clause
// provider/wait.h -- how threads sleep until a queue or counter has something: timed waits, the
// descriptor behind FI_WAIT_FD, wait sets and poll sets.
//
// A thread in a timed wait moves the engine itself. A thread that sleeps on a descriptor is woken
// by the side that made the entry: the engine's agent, when no thread calls in.
#pragma once

#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/bell.h"
#include "base/idle_spins.h"
#include "livebtl/engine.h"
#include "provider/object.h"

namespace livebtl::fi {

class WaitSet;

/// An eventfd that is written only while it is armed: somebody is about to sleep on it.
class WaitFd {
 public:
  /// Returns 0 or a negative error.
  int open() noexcept;
  int number() const noexcept { return bell_ ? bell_->fd() : -1; }
  /// Call once the entry is visible. Costs one comparison if there is no descriptor.
  void notify() noexcept {
    if (!bell_) [[likely]]
      return;
    // Either we see it armed, or the arming thread sees our entry: both exchange the same word.
    if (armed_.exchange(false, std::memory_order_acq_rel)) ring();
  }
  void ring() noexcept;
  /// Call before sleeping: forgets old rings. Then look once more at what is waited for.
  void arm() noexcept;

 private:
  std::optional<Bell> bell_;
  std::atomic<bool> armed_{false};
};

/// What a thread can wait for: a queue or a counter.
class Waitable {
 public:
  /// Moves the engine; is there something to read?
  virtual bool ready() noexcept = 0;
  virtual Engine* engine() noexcept = 0;  // null: needs none
  /// Has the application told a sleeper to wake? Clears that.
  virtual bool take_signal() noexcept { return false; }
  /// Between these two calls it cannot be closed.
  virtual void join_poll_set() noexcept = 0;
  virtual void leave_poll_set() noexcept = 0;

  /// Called on opening: opens the descriptor, or joins the set. Returns 0 or a negative error.
  int set_wait(fi_wait_obj how, fid_wait* set) noexcept;
  fi_wait_obj wait_object() const noexcept { return wait_object_; }
  WaitFd& wait_fd() noexcept { return wait_fd_; }

 protected:
  ~Waitable();

  WaitFd wait_fd_;

 private:
  WaitSet* wait_set_ = nullptr;
  fi_wait_obj wait_object_ = FI_WAIT_NONE;
};

/// fi_control of a queue or counter: only FI_GETWAIT.
template <class Self>
int get_wait(fid_t object, int command, void* argument) noexcept {
  const int fd = Self::of(object).wait_fd().number();
  if (command != FI_GETWAIT) return -FI_ENOSYS;
  if (fd < 0) return -FI_ENODATA;
  *static_cast<int*>(argument) = fd;
  return 0;
}

/// The queue or counter behind a fid, or null.
Waitable* waitable_of(fid_t object) noexcept;

/// Sleeps for at most `timeout_ms` milliseconds (< 0: no limit) until `ready` returns true, and
/// returns its last answer. `ready` moves the engine, and is called at least every 10 ms, since
/// another thread may take what was waited for.
template <class Ready>
bool wait_until(Engine* engine, int timeout_ms, Ready ready) noexcept {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t kSliceNs = 10'000'000;
  const auto until = Clock::now() + std::chrono::milliseconds(timeout_ms);
  for (;;) {
    if (ready()) return true;
    std::int64_t slice_ns = kSliceNs;
    if (timeout_ms >= 0) {
      const std::int64_t left_ns =
          std::chrono::duration_cast<std::chrono::nanoseconds>(until - Clock::now()).count();
      if (left_ns <= 0) return false;
      if (left_ns < slice_ns) slice_ns = left_ns;
    }
    if (engine) {
      engine->wait(slice_ns);
    } else {
      timespec pause{0, slice_ns < 1'000'000 ? static_cast<long>(slice_ns) : 1'000'000L};
      ::nanosleep(&pause, nullptr);
    }
  }
}

int open_wait_set(fid_fabric* fabric, fi_wait_attr* attr, fid_wait** set);
int try_wait(fid_fabric* fabric, fid** objects, int count);
int open_poll_set(fid_domain* domain, fi_poll_attr* attr, fid_poll** set);

/// fi_wait_open's object: its members are all objects opened with it as their wait set.
class WaitSet final : public Object<WaitSet, fid_wait> {
 public:
  WaitSet() noexcept;

  void add(Waitable& member);
  void remove(Waitable& member) noexcept;
  int wait(int timeout_ms) noexcept;

 private:
  std::mutex lock_;  // held for members_, also while they are asked
  std::vector<Waitable*> members_;
};

}  // namespace livebtl::fi
