// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_bell.h -- the bell of a Soft-RoCE queue pair, for when its driver may not
// ring it.
//
// The driver's library (rxe) puts a work request into memory that it shares with the kernel, and
// rings by write(2) to the device's descriptor. The kernel accepts that only from a thread that has
// the very credentials object with which the descriptor was opened (ib_safe_file_access). The
// threads of a process share it; CRIU gives each thread an equal one of its own. The same command
// by ioctl(2) is accepted from any thread (UVERBS_METHOD_INVOKE_WRITE, Linux 5.0). docs/adr/0067.
//
// Under the engine's lock.
#pragma once

#include <cstdint>

namespace livebtl::verbs {

/// Tells the device what waits in the send queue of that pair. command_fd: the device's, as opened;
/// queue_pair: the kernel's handle. Returns 0 or an errno: EINVAL if the device is not of that
/// driver, or the pair may not send; ENOTTY, EPROTONOSUPPORT on older kernels.
int ring_soft_roce(int command_fd, std::uint32_t queue_pair) noexcept;

}  // namespace livebtl::verbs
