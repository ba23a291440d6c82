// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_peer_memory.cc -- see sm_peer_memory.h.
#include "transports/sm/sm_peer_memory.h"

#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace livebtl::sm {

PeerMemory::PeerMemory(pid_t pid, const Fd& socket, const Fd& process) noexcept
    : socket_(socket.number()), process_(process.number()) {
  if (process || pid == ::getpid()) pid_ = pid;
}

PeerMemory::Read PeerMemory::read(std::uint64_t address, MutableBytes into) const noexcept {
  if (pid_ <= 0) return Read::kGone;
  std::size_t done = 0;
  while (done < into.size()) {
    // The kernel may stop at a page that it cannot get at: then the next call says why.
    const iovec here{into.data() + done, into.size() - done};
    const iovec there{reinterpret_cast<void*>(address + done), into.size() - done};
    const ssize_t copied = ::process_vm_readv(pid_, &here, 1, &there, 1, 0);
    if (copied > 0) {
      done += static_cast<std::size_t>(copied);
      continue;
    }
    const int error = copied == 0 ? EFAULT : errno;
    // A process that is ending has no memory any more (ESRCH), and its descriptors for a while yet.
    if (error == ESRCH || !alive()) return Read::kGone;
    errno = error;
    return Read::kRefused;
  }
  return alive() ? Read::kDone : Read::kGone;
}

bool PeerMemory::alive() const noexcept {
  std::array<pollfd, 2> ends{pollfd{socket_, POLLRDHUP, 0}, pollfd{process_, POLLIN, 0}};
  int count = 0;
  do {
    count = ::poll(ends.data(), ends.size(), 0);  // an empty Fd's -1 is passed over
  } while (count < 0 && errno == EINTR);
  return count == 0;
}

}  // namespace livebtl::sm
