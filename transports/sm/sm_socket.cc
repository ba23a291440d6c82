// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_socket.cc -- see sm_socket.h.
#include "transports/sm/sm_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>

#include "base/process_files.h"

namespace livebtl::sm {
namespace {

constexpr int kBacklog = 1024;

tl::unexpected<Error> system_failure(Errc code, const std::string& what) {
  return fail(code, what + ": " + std::strerror(errno));
}

sockaddr_un unix_address(const std::string& path) noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof(address.sun_path) - 1));
  return address;
}

Fd new_socket() noexcept {
  return Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

Errc code_of_connect(int error) noexcept {
  switch (error) {
    case ENOENT:
    case ECONNREFUSED:
      return Errc::kUnreachable;
    case EACCES:
    case EPERM:
      return Errc::kAuth;
    default:
      return Errc::kSystem;
  }
}

}  // namespace

std::string socket_name(ProcessId process) { return process_file(process, kMemorySocket); }

Result<SocketDirectory> SocketDirectory::open(std::string path) {
  SocketDirectory made;
  made.directory_ = Fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!made.directory_)
    return system_failure(Errc::kSystem, "cannot open the job directory " + path);
  made.path_ = std::move(path);
  return made;
}

std::string SocketDirectory::path_of(const std::string& name) const {
  std::string path = path_ + "/" + name;
  if (path.size() < sizeof(sockaddr_un::sun_path)) return path;
  return "/proc/self/fd/" + std::to_string(directory_.number()) + "/" + name;
}

Result<Fd> SocketDirectory::listen(const std::string& name) const {
  Fd socket = new_socket();
  if (!socket) return system_failure(Errc::kNoMemory, "cannot make a Unix socket");
  const sockaddr_un address = unix_address(path_of(name));
  remove(name);
  if (::bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(socket.number(), kBacklog) != 0)
    return system_failure(Errc::kSystem, "cannot listen at " + path_ + "/" + name);
  return socket;
}

Result<Fd> SocketDirectory::connect(const std::string& name) const {
  Fd socket = new_socket();
  if (!socket) return system_failure(Errc::kNoMemory, "cannot make a Unix socket");
  const sockaddr_un address = unix_address(path_of(name));
  if (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0)
    return socket;
  if (errno == EAGAIN) return Fd();
  return system_failure(code_of_connect(errno), "sm peer at " + path_ + "/" + name);
}

void SocketDirectory::remove(const std::string& name) const noexcept {
  ::unlinkat(directory_.number(), name.c_str(), 0);
}

Result<pid_t> check_peer(const Fd& socket) {
  ucred peer{};
  socklen_t length = sizeof(peer);
  if (::getsockopt(socket.number(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
    return system_failure(Errc::kSystem, "the kernel does not say who the sm peer is");
  if (peer.uid != ::geteuid() && peer.uid != 0)
    return fail(Errc::kAuth, "sm peer runs as user " + std::to_string(peer.uid) +
                                 "; all processes of a job must run as one user");
  return peer.pid;
}

Status send_setup(const Fd& socket, const Setup& setup, const Fd& memory) {
  Setup copy = setup;
  iovec piece{&copy, sizeof(copy)};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  const int number = memory.number();
  std::memcpy(CMSG_DATA(rights), &number, sizeof(number));
  // A fresh socket has room for 40 bytes, so this is all or nothing.
  if (::sendmsg(socket.number(), &message, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof(copy)))
    return system_failure(Errc::kDown, "sm peer closed while connecting");
  return {};
}

namespace {

/// Takes all descriptors of a message, so that a hostile peer cannot leave any open here. Returns
/// the only one.
Fd take_descriptors(msghdr& message) noexcept {
  Fd first;
  std::size_t count = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = 0; at + sizeof(int) <= part->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + at, sizeof(number));
      Fd taken(number);
      if (++count == 1) first = std::move(taken);
    }
  }
  return count == 1 ? std::move(first) : Fd();
}

}  // namespace

Result<ReceivedSetup> receive_setup(const Fd& socket) {
  ReceivedSetup received;
  iovec piece{&received.setup, sizeof(received.setup)};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(4 * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t count = ::recvmsg(socket.number(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return received;
  if (count <= 0) return fail(Errc::kDown, "sm peer closed while connecting");
  received.memory = take_descriptors(message);
  if (count != static_cast<ssize_t>(sizeof(Setup)) || !received.memory ||
      received.setup.magic != Setup::kMagic || received.setup.version != Setup{}.version ||
      received.setup.reserved != 0)
    return fail(Errc::kInvalid,
                "an unknown process connected to the sm socket and sent something that is no "
                "livebtl setup message");
  received.complete = true;
  return received;
}

bool take_bells(const Fd& socket) noexcept {
  std::array<char, 256> bells{};
  const ssize_t count = ::recv(socket.number(), bells.data(), bells.size(), MSG_DONTWAIT);
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

void ring_bell(const Fd& socket) noexcept {
  const char bell = 1;
  // A full socket (EAGAIN) wakes as well, and a dead peer shows by the socket's end.
  [[maybe_unused]] const ssize_t rung =
      ::send(socket.number(), &bell, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace livebtl::sm
