// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_peer_memory.cc -- see sm_peer_memory.h.
#include "transports/sm/sm_peer_memory.h"

#include <sys/uio.h>

#include <cerrno>

namespace livebtl::sm {

bool PeerMemory::knows(std::uint64_t probe_address, std::uint64_t probe) noexcept {
  probe_address_ = probe_address;
  probe_ = probe;
  return is_the_same();
}

bool PeerMemory::read(std::uint64_t address, MutableBytes into) const noexcept {
  return copy(address, into) && is_the_same();
}

bool PeerMemory::is_the_same() const noexcept {
  std::uint64_t found = 0;
  if (!copy(probe_address_, {reinterpret_cast<std::byte*>(&found), sizeof(found)})) return false;
  errno = ESRCH;
  return found == probe_;
}

bool PeerMemory::copy(std::uint64_t address, MutableBytes into) const noexcept {
  errno = ESRCH;
  if (pid_ <= 0) return false;
  std::size_t done = 0;
  while (done < into.size()) {
    // The kernel may stop at a page that it cannot get at: then the next call says why.
    const iovec here{into.data() + done, into.size() - done};
    // Only the kernel follows this address: it is one of another process.
    void* const from =
        reinterpret_cast<void*>(address + done);  // NOLINT(performance-no-int-to-ptr)
    const iovec there{from, into.size() - done};
    const ssize_t copied = ::process_vm_readv(pid_, &here, 1, &there, 1, 0);
    if (copied == 0) errno = EFAULT;
    if (copied <= 0) return false;
    done += static_cast<std::size_t>(copied);
  }
  return true;
}

}  // namespace livebtl::sm
