// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_bell.h -- how a reader that falls asleep and a writer that has just written
// avoid missing each other.
//
// The reader says that it sleeps, then looks once more; the writer writes, then checks whether the
// reader sleeps. That is safe only with a full barrier between the two steps on both sides. The
// reader, in no hurry, issues it for both by membarrier(2), which reaches every registered process,
// so the writer's path needs none. Where the kernel refuses membarrier to one of the two (in a
// container, say), the writer pays for its own.
#pragma once

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace livebtl::sm {

/// Registers this process. false: refused; writers must order for themselves. Once per process;
/// cheap to repeat.
inline bool register_barrier() noexcept {
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}
/// A barrier on all processors that run registered processes. No-op if registering was refused.
inline void barrier_everywhere() noexcept {
  ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

}  // namespace livebtl::sm
