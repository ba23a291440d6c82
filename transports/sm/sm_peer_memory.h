// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_peer_memory.h -- reading the memory of the process at the other end (Cross
// Memory Attach, process_vm_readv(2)).
//
// The process is named by a number that may belong to somebody else once it has died; so after each
// copy its socket and its pidfd are asked whether it lives still. If it does, it was the one that
// was read.
#pragma once

#include <sys/types.h>

#include "base/bytes.h"
#include "base/fd.h"

namespace livebtl::sm {

class PeerMemory {
 public:
  /// Nobody: nothing can be read.
  PeerMemory() noexcept = default;
  /// socket, process: borrowed. process may be empty only if the peer is this process.
  PeerMemory(pid_t pid, const Fd& socket, const Fd& process) noexcept;

  enum class Read : std::uint8_t { kDone, kGone, kRefused };
  /// kGone: the process has ended, or left the connection. kRefused: errno says why (EPERM, ENOSYS:
  /// not allowed here; EFAULT: nothing is there).
  Read read(std::uint64_t address, MutableBytes into) const noexcept;

 private:
  bool alive() const noexcept;

  pid_t pid_ = 0;
  int socket_ = -1;
  int process_ = -1;
};

}  // namespace livebtl::sm
