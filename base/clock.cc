// SPDX-License-Identifier: BSD-3-Clause
// base/clock.cc -- CLOCK_MONOTONIC through the vDSO. Any thread.
#include "base/clock.h"

#include <ctime>

namespace livebtl {

TimeNs monotonic_now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);  // cannot fail: the clock exists and the pointer is good
  return now.tv_sec * kSecond + now.tv_nsec;
}

}  // namespace livebtl
