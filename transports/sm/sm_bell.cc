// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_bell.cc -- see sm_bell.h.
#include "transports/sm/sm_bell.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace livebtl::sm {

bool register_barrier() noexcept {
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

void barrier_everywhere() noexcept {
  ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

}  // namespace livebtl::sm
