// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_peer_memory.h -- reading the memory of the process at the other end (Cross
// Memory Attach, process_vm_readv(2)).
//
// A pid may come to name another process, or another program in the same one (exec). So the peer
// publishes a number that it has drawn, and its address: each read must find it there still, in the
// memory that the bytes came from.
//
// For that the kernel takes the peer's locks and brings in its pages. A malicious peer of the same
// user can make a read as slow as it can make a page of a file (LIVEBTL_SM_SINGLE_COPY=none).
#pragma once

#include <sys/types.h>

#include "base/bytes.h"

namespace livebtl::sm {

class PeerMemory {
 public:
  /// Nobody: nothing can be read.
  PeerMemory() noexcept = default;
  /// pid: the peer's, as the kernel shows it here; 0 or less: none.
  explicit PeerMemory(pid_t pid) noexcept : pid_(pid) {}

  /// Is `probe` at that address? From now on read() looks for it.
  bool knows(std::uint64_t probe_address, std::uint64_t probe) noexcept;
  /// false: it cannot be read, now or from here; errno says why (EPERM, ENOSYS: not allowed;
  /// EFAULT: nothing is there, or no ordinary memory; ESRCH: the process has no memory any more, or
  /// is another one).
  bool read(std::uint64_t address, MutableBytes into) const noexcept;

 private:
  pid_t pid_ = 0;
  std::uint64_t probe_address_ = 0;
  std::uint64_t probe_ = 0;
};

}  // namespace livebtl::sm
