// SPDX-License-Identifier: BSD-3-Clause
// provider/cq.h -- fi_cq: the finished operations themselves, linked; it cannot overrun, and its
// size is a hint that is ignored.
//
// It has two lists: what the engine's side has finished, and what a call of the application has
// finished by itself (a peek, an inject that wants a completion). The application's side reads,
// under the gate.
#pragma once

#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

#include <mutex>
#include <vector>

#include "provider/completion.h"
#include "provider/domain.h"
#include "provider/wait.h"

namespace livebtl::fi {

class CompletionQueue final : public Object<CompletionQueue, fid_cq>, public Waitable {
 public:
  CompletionQueue(Domain& domain, fi_cq_format format, void* context) noexcept;
  ~CompletionQueue();

  // Engine's side.
  void push(Completed& node) noexcept {
    arrivals_.push(node);
    wait_fd_.notify();
  }
  /// A node for an event without a posted operation: one more message in a multi-receive buffer, or
  /// a peer's write with data.
  Completed& make_event() noexcept;

  // Application's side, with the gate held.
  void push_local(Completed& node) noexcept;
  /// The endpoint is about to be destroyed: waiting entries no longer refer to it.
  void forget(const Endpoint& endpoint) noexcept;

  // Application's calls.
  ssize_t read(void* entries, std::size_t count, fi_addr_t* sources) noexcept;
  ssize_t read_error(fi_cq_err_entry* entry, std::uint64_t flags) noexcept;
  ssize_t read_waiting(void* entries, std::size_t count, fi_addr_t* sources,
                       int timeout_ms) noexcept;
  int signal() noexcept;

  bool ready() noexcept override;
  Engine* engine() noexcept override { return &domain_.engine(); }
  void join_poll_set() noexcept override { keep(); }
  void leave_poll_set() noexcept override { drop(); }
  bool take_signal() noexcept override {
    return signalled_.exchange(false, std::memory_order_acquire);
  }

 private:
  using Copy = void (*)(const Completed& from, void* entries, std::size_t index) noexcept;

  Completed* front() const noexcept { return local_first_ ? local_first_ : arrivals_.front(); }
  bool anything() noexcept {
    const std::lock_guard hold(domain_.gate());
    return front() != nullptr;
  }
  void pop() noexcept;
  void pop_arrival() noexcept;
  void release(Completed& node) noexcept;
  ssize_t drain(void* entries, std::size_t count, fi_addr_t* sources) noexcept;
  static Copy copy_for(fi_cq_format format) noexcept;

  Domain& domain_;
  const Copy copy_;
  CompletedQueue arrivals_;
  Completed* local_first_ = nullptr;
  Completed* local_last_ = nullptr;
  IdleSpins spins_;
  std::atomic<bool> series_{false};  // the last read moved the engine, and found something

  CompletedQueue events_back_;            // read events, on their way back to the engine's side
  std::vector<Completed*> events_spare_;  // engine's side
  std::vector<std::unique_ptr<Completed>> events_;

  std::atomic<bool> signalled_{false};
};

}  // namespace livebtl::fi
