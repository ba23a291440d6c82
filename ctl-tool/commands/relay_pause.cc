// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/relay_pause.cc -- see relay_pause.h.
#include "ctl-tool/commands/relay_pause.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/process_files.h"
#include "base/run_directory.h"
#include "control/place/member_file.h"
#include "control/wire/local_link.h"
#include "hypervisor/criu/process_tree.h"
#include "hypervisor/vm/child.h"
#include "hypervisor/vm/untrusted.h"

namespace livebtl::tool {
namespace {

constexpr TimeNs kPauseMax = 30 * kSecond;
constexpr TimeNs kTriedAgain = 100 * kMillisecond;

tl::unexpected<Error> another_users(const std::string& path) {
  return fail(Errc::kRefused, path +
                                  " leads to a process of another user, which is not ended; "
                                  "remove that file, the job makes another one");
}

/// The process that listens, as a pidfd, since its pid may soon be another's. Empty: nobody
/// listens. Errors: kRefused: it is not the owner's: the path lies in that user's directory and may
/// lead to anybody. The credentials date from the listen() call: that process may have ended since,
/// and its pid be another user's. If the pidfd's process still lives after the pid's owner was
/// read, that owner is its own.
Result<Fd> process_at(const std::string& path, uid_t owner) {
  const auto link = control::LocalLink::connect(path);
  if (!link)
    return link.error().code == Errc::kUnreachable ? Result<Fd>(Fd())
                                                   : tl::unexpected(link.error());
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(link->fd(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return fail(Errc::kSystem,
                std::string("who listens there is not known: ") + std::strerror(errno));
  if (peer.uid != owner) return another_users(path);
  Fd process(static_cast<int>(::syscall(SYS_pidfd_open, peer.pid, 0)));
  if (!process && errno == ESRCH) return Fd();  // it has just ended
  if (!process)
    return fail(Errc::kSystem, std::string("the relay cannot be watched: ") + std::strerror(errno));
  const auto has_it = hypervisor::owner_of(peer.pid);
  if (hypervisor::wait_for(process, monotonic_now())) return Fd();
  return has_it == owner ? Result<Fd>(std::move(process)) : another_users(path);
}

/// Creates it for its owner if nobody has started a relay yet: the members must be able to open it.
/// Opens it in the job's directory only, whatever the owner has put in that directory's place
/// meanwhile.
Fd open_start_lock(const Fd& directory, const std::string& name, uid_t owner) {
  constexpr int kFlags = O_RDWR | O_NOFOLLOW | O_CLOEXEC;
  Fd made(::openat(directory.number(), name.c_str(), kFlags | O_CREAT | O_EXCL, 0600));
  if (made && ::fchown(made.number(), owner, static_cast<gid_t>(-1)) != 0) return {};
  return made ? std::move(made) : Fd(::openat(directory.number(), name.c_str(), kFlags));
}

Result<Fd> take_start_lock(const control::JobPlace& job, ProcessId node, const Deadline& deadline) {
  const auto directory = open_private_directory(job.directory, job.owner);
  if (!directory) return tl::unexpected(directory.error());
  const std::string name = process_file(node, kRelayStartLock);
  Fd lock = open_start_lock(*directory, name, job.owner);
  if (!lock) return fail(Errc::kSystem, job.directory + "/" + name + ": " + std::strerror(errno));
  while (!control::take_lock(lock.number())) {
    if (monotonic_now() > deadline.at)
      return fail(Errc::kTimeout,
                  "a process of the job has been starting livebtl-relay for too long");
    hypervisor::pause(kTriedAgain, deadline);
  }
  return lock;
}

}  // namespace

Result<Fd> pause_relay(const control::JobPlace& job) {
  if (job.members.live.empty()) return fail(Errc::kNotFound, "there is no process of the job here");
  const auto node = control::parse_process_name(job.members.live.front().node, "");
  if (!node)
    return fail(Errc::kRefused, job.directory +
                                    " holds a file of a process that names no node; have the job's "
                                    "user remove that file");
  const Deadline deadline{monotonic_now() + kPauseMax, nullptr};
  auto lock = take_start_lock(job, *node, deadline);
  if (!lock) return lock;
  const auto relay = process_at(job.directory + "/" + process_file(*node, kRelaySocket), job.owner);
  if (!relay) return tl::unexpected(relay.error());
  if (!*relay) return lock;
  ::syscall(SYS_pidfd_send_signal, relay->number(), SIGKILL, nullptr, 0);
  if (!hypervisor::wait_for(*relay, deadline.at))
    return fail(Errc::kTimeout, "livebtl-relay does not end");
  return lock;
}

}  // namespace livebtl::tool
