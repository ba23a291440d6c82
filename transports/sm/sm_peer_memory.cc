// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_peer_memory.cc -- see sm_peer_memory.h.
#include "transports/sm/sm_peer_memory.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace livebtl::sm {

namespace {

/// Only the kernel follows that address: it is in another process.
iovec there_at(std::uint64_t address, std::size_t bytes) noexcept {
  return {reinterpret_cast<void*>(address), bytes};  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

bool PeerMemory::knows(std::uint64_t probe_address, std::uint64_t probe) noexcept {
  probe_address_ = probe_address;
  probe_ = probe;
  return read(probe_address, {});
}

// The last call reads the probe after the bytes, out of the same memory; and a pid that still names
// the peer has never named another process before.
bool PeerMemory::read(std::uint64_t address, MutableBytes into) const noexcept {
  errno = ESRCH;
  if (pid_ <= 0) return false;
  std::uint64_t found = 0;
  while (true) {
    const std::array<iovec, 2> here{{{into.data(), into.size()}, {&found, sizeof(found)}}};
    const std::array<iovec, 2> there{
        {there_at(address, into.size()), there_at(probe_address_, sizeof(found))}};
    const ssize_t copied =
        ::process_vm_readv(pid_, here.data(), here.size(), there.data(), there.size(), 0);
    if (copied == 0) errno = EFAULT;
    if (copied <= 0) return false;
    const auto bytes = static_cast<std::size_t>(copied);
    if (bytes == into.size() + sizeof(found)) break;
    // Part of the probe: it runs past the end of what is there, which no honest one does.
    if (bytes > into.size()) {
      errno = EFAULT;
      return false;
    }
    // The kernel may stop at a page that it cannot access: the next call then says why.
    address += bytes;
    into = into.subspan(bytes);
  }
  errno = ESRCH;
  return found == probe_;
}

}  // namespace livebtl::sm
