// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_socket.h -- the system calls on sockets: open, listen, dial, accept, with
// their options. All sockets are non-blocking and close-on-exec.
#pragma once

#include "base/fd.h"
#include "transports/tcp/tcp_address.h"

namespace livebtl::tcp {

/// Tests narrow the buffers; the defaults leave them to the kernel, which adapts them to the
/// connection.
struct SocketOptions {
  int send_buffer_bytes = 0;     // 0: the kernel's choice
  int receive_buffer_bytes = 0;  // 0: the kernel's choice
  // The core probes a silent path long before; these close what nobody uses and nobody answers.
  int user_timeout_ms = 60'000;  // unacknowledged bytes for so long: the connection is broken
  int keepalive_idle_s = 20;
};

/// Options of a connected or connecting socket. Errors: kSystem.
Status set_data_options(int fd, const SocketOptions& options);

/// Within a node nothing is congested, and an algorithm that paces what it sends (bbr) only delays
/// it. If the kernel allows no other, it stays.
void leave_pacing(int fd) noexcept;

/// A listening socket at `ip` (all zero: any address, IPv4 and IPv6, if the kernel has IPv6), whose
/// connections have the options of set_data_options(). port 0: any.
Result<Fd> listen_at(const IpBytes& ip, std::uint16_t port, const SocketOptions& options);
/// Starts to connect; poll and connect_error() show the result.
Result<Fd> start_connect(const SocketAddress& to, const SocketOptions& options);
/// errno of the connection attempt; 0: connected.
int connect_error(int fd) noexcept;

std::optional<SocketAddress> local_end(int fd) noexcept;
std::optional<SocketAddress> remote_end(int fd) noexcept;

/// The text of an errno.
std::string errno_text(int error);

}  // namespace livebtl::tcp
