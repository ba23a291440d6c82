// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_peer_memory.h -- reading the memory of the process at the other end (Cross
// Memory Attach, process_vm_readv(2)).
//
// The process is named by a number that may come to mean another one, or another program in the
// same (exec). So the peer shows a number that it has drawn, and where it stands: each read finds it
// there still, in the memory that the bytes came from.
//
// The kernel takes the peer's locks and brings in its pages for that. A peer of the same user that
// means ill can make a read as slow as it can make a page of a file (LIVEBTL_SM_SINGLE_COPY=none).
#pragma once

#include <sys/types.h>

#include "base/bytes.h"

namespace livebtl::sm {

class PeerMemory {
 public:
  /// Nobody: nothing can be read.
  PeerMemory() noexcept = default;
  /// pid: as the kernel names the peer here; 0 or less: it does not.
  explicit PeerMemory(pid_t pid) noexcept : pid_(pid) {}

  /// Is `probe` at that address there? From then on read() looks for it.
  bool knows(std::uint64_t probe_address, std::uint64_t probe) noexcept;
  /// false: it cannot be read, now or from here; errno says why (EPERM, ENOSYS: not allowed;
  /// EFAULT: nothing is there, or no memory of the common kind; ESRCH: the process has no memory
  /// any more, or is another one).
  bool read(std::uint64_t address, MutableBytes into) const noexcept;

 private:
  pid_t pid_ = 0;
  std::uint64_t probe_address_ = 0;
  std::uint64_t probe_ = 0;
};

}  // namespace livebtl::sm
