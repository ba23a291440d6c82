// SPDX-License-Identifier: BSD-3-Clause
// control/wire/local_door.cc -- see local_door.h.
#include "control/wire/local_door.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "control/wire/unix_address.h"

namespace livebtl::control {
namespace {

constexpr int kDoorBacklog = 1024;
constexpr TimeNs kAcceptAgain = 100 * kMillisecond;

bool of_this_user_or_root(int fd) noexcept {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return false;
  return peer.uid == ::geteuid() || peer.uid == 0;
}

tl::unexpected<Error> cannot_listen(const std::string& path, int error) {
  return fail(no_descriptor(error) ? Errc::kNoMemory : Errc::kSystem,
              "cannot listen on " + path + ": " + std::strerror(error) +
                  (no_descriptor(error) ? "; raise ulimit -n" : ""));
}

}  // namespace

LocalDoor::LocalDoor(Fd listener, std::size_t connections_max)
    : listener_(std::move(listener)),
      only_here_(listener_.number()),
      connections_max_(connections_max) {}

Result<LocalDoor> LocalDoor::listen(const std::string& path, std::size_t connections_max) {
  const auto address = unix_address(path);
  if (!address) return cannot_listen(path, ENAMETOOLONG);
  Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return cannot_listen(path, errno);
  if (::bind(fd.number(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 ||
      ::chmod(path.c_str(), 0600) != 0 || ::listen(fd.number(), kDoorBacklog) != 0) {
    return cannot_listen(path, errno);
  }
  return LocalDoor(std::move(fd), connections_max);
}

void LocalDoor::turn(TimeNs now) {
  if (now < retry_at_ && retry_at_ != INT64_MAX) return;
  retry_at_ = INT64_MAX;
  if (!spares_.full()) spares_.refill();
  for (std::size_t i = 0; i < connections_max_ && take_one(now); ++i) {
  }
}

/// false: no connection waits, or no descriptor is left.
bool LocalDoor::take_one(TimeNs now) {
  Fd fd;
  for (;;) {
    fd = Fd(::accept4(listener_.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd) break;
    const int error = errno;
    if (error == EINTR || error == ECONNABORTED) continue;
    if (no_descriptor(error) && spares_.give_up_one()) continue;
    if (error != EAGAIN) retry_at_ = now + kAcceptAgain;
    return false;
  }
  if (!of_this_user_or_root(fd.number())) return true;
  make_room();
  links_.emplace(++numbers_, Connection{LocalLink(std::move(fd)), 0});
  return true;
}

void LocalDoor::make_room() {
  if (links_.size() < connections_max_) return;
  const auto less_used = [](const auto& a, const auto& b) { return a.second.used < b.second.used; };
  forget(std::min_element(links_.begin(), links_.end(), less_used));
}

void LocalDoor::forget(Links::iterator connection) {
  if (connection->second.used != 0) ended_.push_back(std::to_string(connection->first));
  links_.erase(connection);
  if (!spares_.full()) spares_.refill();
}

/// Connections that have something to read take turns, so that one that never pauses holds up no
/// other; the rest, which may be all processes of a node, cost no system call.
std::optional<Envelope> LocalDoor::receive() {
  for (bool looked = false; !ready_.empty() || !looked;) {
    if (ready_.empty()) {
      look();
      looked = true;
      continue;
    }
    const auto at = links_.find(ready_.back());
    ready_.pop_back();
    if (at == links_.end()) continue;  // it had to make room
    at->second.link.flush();
    auto envelope = at->second.link.receive();
    if (envelope) {
      at->second.used = ++uses_;
      envelope->peer = std::to_string(at->first);
      return envelope;
    }
    if (at->second.link.closed()) forget(at);
  }
  return std::nullopt;
}

/// Finds connections that have something to read, have room to send again, or have ended.
void LocalDoor::look() {
  polled_.clear();
  for (const auto& [number, connection] : links_) {
    const bool closed = connection.link.closed();
    polled_.push_back(closed ? pollfd{-1, 0, 0} : connection.link.wanted());
  }
  // If poll() fails (no memory, a signal), each is tried.
  const bool told = ::poll(polled_.data(), polled_.size(), 0) >= 0;
  auto seen = polled_.rbegin();
  for (auto at = links_.rbegin(); at != links_.rend(); ++at, ++seen) {
    if (!told || seen->revents != 0 || at->second.link.closed()) ready_.push_back(at->first);
  }
}

bool LocalDoor::send(const Envelope& envelope) {
  const auto number = parse_number<std::uint64_t>(envelope.peer);
  const auto connection = number ? links_.find(*number) : links_.end();
  return connection != links_.end() && connection->second.link.send(envelope);
}

void LocalDoor::add_poll_fds(std::vector<pollfd>& fds) const {
  if (!starved()) fds.push_back({listener_.number(), POLLIN, 0});
  for (const auto& [number, connection] : links_) fds.push_back(connection.link.wanted());
}

}  // namespace livebtl::control
