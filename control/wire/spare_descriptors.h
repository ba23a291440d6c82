// SPDX-License-Identifier: BSD-3-Clause
// control/wire/spare_descriptors.h -- descriptors kept for the moment when the process has no
// others left.
//
// One is given back to the kernel right before it is needed; another thread may be faster, which is no
// worse than having had none. Threads: one.
#pragma once

#include <fcntl.h>

#include <cerrno>
#include <vector>

#include "base/fd.h"

namespace livebtl::control {

class SpareDescriptors {
 public:
  /// None are kept before the first refill(): what a process cannot start without comes first.
  explicit SpareDescriptors(std::size_t wanted) : wanted_(wanted) { spare_.reserve(wanted); }
  /// Tops the spares up to the number wanted, as far as descriptors are left.
  void refill() noexcept {
    while (spare_.size() < wanted_) {
      Fd fd(::open("/", O_PATH | O_CLOEXEC));
      if (!fd) return;
      spare_.push_back(std::move(fd));
    }
  }
  /// false: there is none to give up.
  bool give_up_one() noexcept {
    if (spare_.empty()) return false;
    spare_.pop_back();
    return true;
  }
  bool full() const noexcept { return spare_.size() == wanted_; }

 private:
  std::size_t wanted_;
  std::vector<Fd> spare_;
};

/// Does this error say that the process or the system has no descriptor left?
inline bool no_descriptor(int error) noexcept { return error == EMFILE || error == ENFILE; }

/// While it exists, the process has a few more descriptors, for work that opens and closes files.
class WithSpares {
 public:
  explicit WithSpares(SpareDescriptors& spares) noexcept : spares_(spares) {
    while (spares_.give_up_one()) {
    }
  }
  WithSpares(const WithSpares&) = delete;
  WithSpares& operator=(const WithSpares&) = delete;
  ~WithSpares() { spares_.refill(); }

 private:
  SpareDescriptors& spares_;
};

}  // namespace livebtl::control
