// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_socket.cc -- see tcp_socket.h.
#include "transports/tcp/tcp_socket.h"

#include <netinet/tcp.h>

#include <cerrno>
#include <system_error>

namespace livebtl::tcp {
namespace {

constexpr int kBacklog = 1024;

bool set_option(int fd, int level, int name, int value) noexcept {
  return ::setsockopt(fd, level, name, &value, sizeof(value)) == 0;
}

/// Before listen() and connect(): the first packets negotiate the window scale.
bool set_buffers(int fd, const SocketOptions& options) noexcept {
  const bool send_ok = options.send_buffer_bytes == 0 ||
                       set_option(fd, SOL_SOCKET, SO_SNDBUF, options.send_buffer_bytes);
  return send_ok && (options.receive_buffer_bytes == 0 ||
                     set_option(fd, SOL_SOCKET, SO_RCVBUF, options.receive_buffer_bytes));
}

tl::unexpected<Error> system_failure(const std::string& what, int error) {
  const Errc code = error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM
                        ? Errc::kNoMemory
                        : Errc::kSystem;
  return fail(code, "tcp: " + what + ": " + errno_text(error));
}

Result<Fd> open_socket(int family) {
  Fd fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return system_failure("cannot open a socket", errno);
  return fd;
}

/// A named port is taken even if earlier connections linger on it. For a port that the kernel
/// chooses that would be wrong: it might choose one where somebody is about to listen.
bool bind_to(int fd, const SocketAddress& at) noexcept {
  if (at.port != 0 && !set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1)) return false;
  const RawAddress raw = to_raw(at);
  return ::bind(fd, raw.get(), raw.bytes) == 0;
}

/// The any-address of both families in one socket; IPv4 alone where the kernel has no IPv6.
Result<Fd> bind_any(std::uint16_t port) {
  auto fd = open_socket(AF_INET6);
  if (!fd || !set_option(fd->number(), IPPROTO_IPV6, IPV6_V6ONLY, 0) ||
      !bind_to(fd->number(), {IpBytes{}, port})) {
    if (fd && errno != EADDRNOTAVAIL && errno != EAFNOSUPPORT) {
      return system_failure("cannot listen on port " + std::to_string(port), errno);
    }
    if (fd) fd->reset();  // it may be the last descriptor
    fd = open_socket(AF_INET);
    if (!fd) return fd;
    if (!bind_to(fd->number(), {*parse_ip("0.0.0.0"), port})) {
      return system_failure("cannot listen on port " + std::to_string(port), errno);
    }
  }
  return fd;
}

Result<Fd> bind_one(const SocketAddress& at) {
  auto fd = open_socket(is_v4(at.ip) ? AF_INET : AF_INET6);
  if (!fd) return fd;
  if (!is_v4(at.ip) && !set_option(fd->number(), IPPROTO_IPV6, IPV6_V6ONLY, 1)) {
    return system_failure("cannot set IPV6_V6ONLY", errno);
  }
  if (!bind_to(fd->number(), at)) {
    return system_failure("cannot listen at " + to_text(at), errno);
  }
  return fd;
}

template <class Call>
std::optional<SocketAddress> end_of(Call call, int fd) noexcept {
  RawAddress raw;
  raw.bytes = sizeof(raw.storage);
  if (call(fd, reinterpret_cast<sockaddr*>(&raw.storage), &raw.bytes) != 0) return std::nullopt;
  return from_raw(raw.get());
}

}  // namespace

Status set_data_options(int fd, const SocketOptions& options) {
  const bool ok = set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1) &&
                  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, options.user_timeout_ms) &&
                  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1) &&
                  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, options.keepalive_idle_s) &&
                  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, options.keepalive_idle_s / 4);
  if (!ok) return system_failure("cannot set socket options", errno);
  return {};
}

void leave_pacing(int fd) noexcept {
  static constexpr char kName[] = "reno";
  static_cast<void>(::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, kName, sizeof(kName) - 1));
}

Result<Fd> listen_at(const IpBytes& ip, std::uint16_t port, const SocketOptions& options) {
  auto fd = ip == IpBytes{} ? bind_any(port) : bind_one({ip, port});
  if (fd && !set_buffers(fd->number(), options))
    return system_failure("cannot set the size of socket buffers", errno);
  // Accepted sockets inherit its options, which spares calls for each: those too that are connected
  // as soon as it listens.
  if (fd) {
    if (const Status set = set_data_options(fd->number(), options); !set)
      return tl::unexpected(set.error());
  }
  if (fd && ::listen(fd->number(), kBacklog) != 0) return system_failure("cannot listen", errno);
  // Otherwise connections that it accepted, once over, would keep its address for a minute, in
  // which CRIU could not restore this socket. While it listens, this lets nobody else bind that
  // address.
  if (fd && !set_option(fd->number(), SOL_SOCKET, SO_REUSEADDR, 1))
    return system_failure("cannot set SO_REUSEADDR", errno);
  return fd;
}

Result<Fd> start_connect(const SocketAddress& to, const SocketOptions& options) {
  auto fd = open_socket(is_v4(to.ip) ? AF_INET : AF_INET6);
  if (!fd) return fd;
  if (!set_buffers(fd->number(), options))
    return system_failure("cannot set the size of socket buffers", errno);
  if (const Status set = set_data_options(fd->number(), options); !set)
    return tl::unexpected(set.error());
  const RawAddress raw = to_raw(to);
  if (::connect(fd->number(), raw.get(), raw.bytes) != 0 && errno != EINPROGRESS) {
    return fail(Errc::kUnreachable, errno_text(errno));
  }
  return fd;
}

int connect_error(int fd) noexcept {
  int error = 0;
  socklen_t bytes = sizeof(error);
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 ? error : errno;
}

std::optional<SocketAddress> local_end(int fd) noexcept { return end_of(::getsockname, fd); }
std::optional<SocketAddress> remote_end(int fd) noexcept { return end_of(::getpeername, fd); }

std::string errno_text(int error) { return std::generic_category().message(error); }

}  // namespace livebtl::tcp
