// SPDX-License-Identifier: BSD-3-Clause
// provider/cntr.h -- fi_cntr: how many operations have succeeded and failed. Both sides count; the
// application reads, sets and waits.
#pragma once

#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

#include <atomic>

#include "provider/domain.h"
#include "provider/wait.h"

namespace livebtl::fi {

class Counter final : public Object<Counter, fid_cntr>, public Waitable {
 public:
  Counter(Domain& domain, void* context) noexcept;
  ~Counter() { domain_.drop(); }

  /// Counts one more ended operation; error: 0, or libfabric's positive number. Either side.
  void count(int error) noexcept {
    (error ? errors_ : value_).fetch_add(1, std::memory_order_release);
    wait_fd_.notify();
  }

  // Application's calls.
  std::uint64_t read() noexcept;
  std::uint64_t read_errors() noexcept;
  int add(std::uint64_t more) noexcept;
  int set(std::uint64_t value) noexcept;
  int add_errors(std::uint64_t more) noexcept;
  int set_errors(std::uint64_t value) noexcept;
  int wait(std::uint64_t threshold, int timeout_ms) noexcept;

  bool ready() noexcept override;
  Engine* engine() noexcept override { return &domain_.engine(); }
  void join_poll_set() noexcept override { keep(); }
  void leave_poll_set() noexcept override { drop(); }

 private:
  Domain& domain_;
  std::atomic<std::uint64_t> value_{0};
  std::atomic<std::uint64_t> errors_{0};
  std::atomic<std::uint64_t> value_read_{0};  // what the application read last
  std::atomic<std::uint64_t> errors_read_{0};
  // The application has changed the number since it read it: operations that end may bring it back
  // to the value that was read.
  std::atomic<bool> value_changed_{false};
  std::atomic<bool> errors_changed_{false};
  IdleSpins spins_;
};

}  // namespace livebtl::fi
