// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/agent/few_descriptors.h -- a process whose table of descriptors is full, or nearly so.
#pragma once

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fd.h"

namespace livebtl::test {

/// While it lives, only `left` more descriptors can be opened.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t left) {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const int lowest = ::dup(STDERR_FILENO);
    REQUIRE(lowest >= 0);
    ::close(lowest);
    const rlimit few{static_cast<rlim_t>(lowest) + left, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  }
  ~FewDescriptors() { CHECK(::setrlimit(RLIMIT_NOFILE, &before_) == 0); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
};

}  // namespace livebtl::test
