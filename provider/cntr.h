// SPDX-License-Identifier: BSD-3-Clause
// provider/cntr.h -- fi_cntr: how many operations have ended, well or badly. Both sides count; the
// application reads, sets and waits.
#pragma once

#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

#include <atomic>

#include "provider/domain.h"
#include "provider/wait.h"

namespace livebtl::fi {

class Counter final : public fid_cntr, public Waitable {
 public:
  Counter(Domain& domain, void* context) noexcept;
  ~Counter();
  static Counter& of(fid_cntr* counter) noexcept { return static_cast<Counter&>(*counter); }
  static Counter& of(fid_t object) noexcept { return of(reinterpret_cast<fid_cntr*>(object)); }
  /// Returns 0 or a negative error.
  int set_wait(const fi_cntr_attr& attr);

  /// One more has ended; error: 0, or libfabric's positive number. Either side.
  void count(int error) noexcept {
    (error ? errors_ : value_).fetch_add(1, std::memory_order_release);
    wait_fd_.notify();
  }
  std::uint64_t read() noexcept;
  std::uint64_t read_errors() noexcept;
  void add(std::uint64_t more) noexcept;
  void set(std::uint64_t value) noexcept;
  void add_errors(std::uint64_t more) noexcept;
  void set_errors(std::uint64_t value) noexcept;
  int wait(std::uint64_t threshold, int timeout_ms) noexcept;

  void keep() noexcept { users_.fetch_add(1, std::memory_order_relaxed); }
  void drop() noexcept { users_.fetch_sub(1, std::memory_order_relaxed); }
  bool used() const noexcept { return users_.load(std::memory_order_relaxed) != 0; }
  Domain& domain() noexcept { return domain_; }

  bool ready() noexcept override;
  Engine* engine() noexcept override { return &domain_.engine(); }
  WaitFd* wait_fd() noexcept override { return &wait_fd_; }
  void* user_context() noexcept override { return fid.context; }

 private:
  Domain& domain_;
  std::atomic<std::uint64_t> value_{0};
  std::atomic<std::uint64_t> errors_{0};
  std::atomic<std::uint64_t> value_read_{0};  // what the application read last
  IdleSpins spins_;
  WaitFd wait_fd_;
  WaitSet* wait_set_ = nullptr;
  std::atomic<int> users_{0};
};

}  // namespace livebtl::fi
